// The style sheet's colours, for a canvas, which has no classes.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Colours } from './painter';

/** Returns black or white, whichever contrasts better. */
function ink_on(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#000000' : '#ffffff';
}

/** Invisible shapes of every fill, from which colours are read. */
export function Probe({ probe, states }: { probe: RefObject<SVGSVGElement>; states: readonly string[] }) {
  return (
    <svg class="probe" ref={probe} width="0" height="0" aria-hidden="true">
      {states.map((state) => (
        <rect key={state} class={`fill-${/^\w+$/.test(state) ? state : 'other'}`} />
      ))}
    </svg>
  );
}

/** Follows the page's light and dark. */
export function use_colours(): { probe: RefObject<SVGSVGElement>; colours: Colours | undefined } {
  const probe = useRef<SVGSVGElement>(null);
  const [colours, set_colours] = useState<Colours>();
  useEffect(() => {
    const look = () => {
      if (probe.current === null) return;
      const style = getComputedStyle(document.documentElement);
      const named = (name: string) => style.getPropertyValue(`--${name}`).trim();
      const states = [...probe.current.children].map((shape) => getComputedStyle(shape).fill);
      set_colours({
        paper: named('paper'),
        raised: named('raised'),
        ink: named('ink'),
        soft: named('soft'),
        rule: named('rule'),
        focus: named('focus'),
        states,
        inks: states.map(ink_on),
      });
    };
    look();
    const theme = new MutationObserver(look);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const queries = ['(prefers-color-scheme: dark)', 'print'].map((query) => matchMedia(query));
    for (const query of queries) query.addEventListener('change', look);
    return () => {
      theme.disconnect();
      for (const query of queries) query.removeEventListener('change', look);
    };
  }, []);
  return { probe, colours };
}
