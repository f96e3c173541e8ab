// How the tracks are shown, of all ranks alike: for the keyboard, and to bring hidden ones back.
import { useMemo } from 'preact/hooks';
import type { TimelineModel } from '../../model/timeline/decode';
import { choices_of, shown_of, with_shown, type Choice, type Display, type Shown } from '../../model/timeline/display';

interface Properties {
  readonly model: TimelineModel;
  readonly display: Display;
  readonly set_display: (display: Display) => void;
}

function words_of({ first, can_fold }: Choice): [Shown, string][] {
  const lanes: [Shown, string] = ['lanes', first.streams > 1 ? 'each stream' : can_fold ? 'all rows' : 'shown'];
  return [lanes, ...(can_fold ? [['row', 'one row'] as [Shown, string]] : []), ['hidden', 'hidden']];
}

export function Tracks({ model, display, set_display }: Properties) {
  const choices = useMemo(() => choices_of(model), [model]);
  const hidden = choices.filter(({ first }) => shown_of(display, first) === 'hidden').length;
  return (
    <details class="tracks">
      <summary>Tracks{hidden === 0 ? '' : `, ${hidden} hidden`}</summary>
      <p class="note">Of all ranks alike. A click on a track’s name in the picture folds it, too. Streams on which nothing ran have no track.</p>
      <ul>
        {choices.map((choice) => (
          <li key={choice.name}>
            <label>
              <span class="name">{choice.name}</span>{' '}
              <select value={shown_of(display, choice.first)} onChange={(event) => set_display(with_shown(display, choice.name, event.currentTarget.value as Shown))}>
                {words_of(choice).map(([shown, words]) => (
                  <option key={shown} value={shown}>
                    {words}
                  </option>
                ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
