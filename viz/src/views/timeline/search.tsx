// Finds pieces by name, one after the other, and ranks.
import { useMemo, useState } from 'preact/hooks';
import { count_text } from '../../format';
import type { TimelineModel } from '../../model/timeline/decode';
import { find, most_found, type Found, type Selection } from '../../model/timeline/navigation';

export function Search({ model, select, show_rank }: { model: TimelineModel; select: (selection: Selection) => void; show_rank: (rank: number) => void }) {
  const [words, set_words] = useState('');
  const [at, set_at] = useState(0);
  const found = useMemo<Found>(() => find(model, words), [model, words]);
  const go = (to: number) => {
    const [rank] = found.ranks;
    if (rank !== undefined) show_rank(rank.rank);
    const wrapped = (to + found.pieces.length) % Math.max(1, found.pieces.length);
    const piece = found.pieces[wrapped];
    set_at(wrapped);
    if (piece !== undefined) select(piece);
  };
  const is_none = found.pieces.length === 0 && found.ranks.length === 0;
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(at + 1);
      }}
    >
      <label>
        Find names or ranks{' '}
        <input
          type="search"
          value={words}
          onInput={(event) => {
            set_words(event.currentTarget.value);
            set_at(-1);
          }}
        />
      </label>{' '}
      <button type="button" disabled={found.pieces.length === 0} onClick={() => go(at < 0 ? found.pieces.length - 1 : at - 1)}>
        Previous
      </button>{' '}
      <button type="submit" disabled={is_none}>
        Next
      </button>{' '}
      <span role="status">
        {words === '' ? '' : is_none ? 'Nothing has these words.' : found.pieces.length === 0 ? '' : `${at < 0 ? '' : `${count_text(at + 1)} of `}${count_text(found.pieces.length)}${found.is_cut ? ` of more than ${count_text(most_found)}` : ''}`}
      </span>
    </form>
  );
}
