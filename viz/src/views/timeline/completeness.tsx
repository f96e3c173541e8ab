// Describes what the timeline of a large job lacks.
import { count_text, plural } from '../../format';
import type { TimelineModel } from '../../model/timeline/decode';
import { shortest_of } from '../../model/timeline/navigation';
import { ns_text } from '../../model/timeline/words';

export function Completeness({ model }: { model: TimelineModel }) {
  const cut = model.ranks.filter((rank) => shortest_of(rank) > 0);
  const longest = Math.max(0, ...cut.map(shortest_of));
  const left_out = model.ranks.reduce((sum, rank) => sum + rank.tracks_left_out, 0);
  const others = model.others.reduce((sum, row) => sum + row.ranks.length, 0);
  return (
    <>
      {cut.length === 0 ? null : (
        <p class="note">
          There is more than a page can hold. Where a rank’s row is underlined every event is there; elsewhere the longest (on every track those of {ns_text(longest)} and more), and the sum of all: how much of the
          time each state takes.
        </p>
      )}
      {others === 0 ? null : (
        <p class="note">
          {plural(model.ranks.length, 'rank')} of {count_text(others + model.ranks.length)} have tracks of their own. Of the others, below them, a row shows how much of the time kernels run and, above
          that, how much of it is waiting, and for what mostly.
        </p>
      )}
      {left_out === 0 ? null : <p class="note">{plural(left_out, 'track')} with few events are left out.</p>}
      {model.messages.left_out === 0 ? null : <p class="note">{plural(model.messages.left_out, 'message')} have no arrow: there are too many.</p>}
    </>
  );
}
