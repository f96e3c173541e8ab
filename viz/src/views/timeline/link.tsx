// A link that holds what the timeline shows: it is put into the address, and copied.
import { useEffect, useState } from 'preact/hooks';
import type { TimelineModel } from '../../model/timeline/decode';
import { fragment_of, view_in, type LinkedView } from '../../model/timeline/link';

/** Calls `act` with the view that the address names, when that changes. */
export function use_linked_view(model: TimelineModel, act: (linked: LinkedView) => void) {
  useEffect(() => {
    const look = () => {
      const linked = view_in(location.hash, model);
      if (linked !== undefined) act(linked);
    };
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, [model]);
}

export function LinkButton({ linked }: { linked: LinkedView }) {
  const [told, set_told] = useState('');
  const fragment = fragment_of(linked);
  useEffect(() => set_told(''), [fragment]);
  const copy = async () => {
    location.replace(fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      set_told('Copied.');
    } catch {
      set_told('It is in the address bar.');
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        Copy a link to this view
      </button>{' '}
      <span role="status">{told}</span>
    </>
  );
}
