// Lets other sections show a moment in the timeline. Must know neither of them.

export interface Moment {
  readonly rank: number;
  /** Seconds since the job began. */
  readonly begin_s: number;
  readonly length_s: number;
}

const name = 'penstock-show-moment';

export const show_moment = (moment: Moment) => dispatchEvent(new CustomEvent<Moment>(name, { detail: moment }));

/** Returns a function that stops listening. */
export function when_shown(act: (moment: Moment) => void): () => void {
  const listener = (event: Event) => act((event as CustomEvent<Moment>).detail);
  addEventListener(name, listener);
  return () => removeEventListener(name, listener);
}
