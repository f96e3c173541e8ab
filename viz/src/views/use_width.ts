// Returns the width of an element in CSS pixels, and follows its changes.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export function use_width<Kind extends HTMLElement = HTMLDivElement>(least = 240) {
  const ref = useRef<Kind>(null);
  const [width, set_width] = useState(900);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => set_width(Math.max(least, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [least]);
  return { ref, width };
}
