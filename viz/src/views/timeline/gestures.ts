// The effects of mouse, pen, fingers and wheel on the timeline: move, zoom, measure, point and click. Knows pixels and
// views; must not know pieces.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Range } from '../../model/timeline/decode';
import { panned, zoomed } from '../../model/timeline/navigation';
import { pinched, type Fingers, type Point } from '../../model/timeline/pinch';

export type SetView = (next: Range | ((before: Range) => Range)) => void;

interface Properties {
  readonly scroller: RefObject<HTMLElement>;
  readonly view: Range;
  readonly bounds: Range;
  readonly set_view: SetView;
  /** Names are left of it. */
  readonly gutter: number;
  readonly width: number;
  /** The ruler is above it. */
  readonly ruler: number;
  /** Receives the range that was dragged on the ruler. */
  readonly measure: (range: Range) => void;
  /** Receives the pointer's place, from the picture's upper left; undefined: elsewhere. */
  readonly point: (at: Point | undefined) => void;
  readonly click: (at: Point) => void;
}

/** A press that moves no further is a click. */
const click_px = 3;
/** Some wheels count in lines. */
const line_px = 30;
const wheel_rate = 0.004;
/** Browsers report pinches on a touch pad as wheel events with Ctrl, smaller than those of any wheel: a hundred times
 * the change. */
const pinch_rate = 0.01;
const most_pinch = 50;

interface Drag {
  readonly from: Point;
  readonly view: Range;
  readonly scroll: number;
  readonly is_on_ruler: boolean;
  moved: boolean;
}
interface Pinch {
  readonly from: Fingers;
  readonly view: Range;
}

export function use_gestures({ scroller, view, bounds, set_view, gutter, width, ruler, measure, point, click }: Properties) {
  const fingers = useRef(new Map<number, Point>());
  const drag = useRef<Drag>();
  const pinch = useRef<Pinch>();
  const plot_px = width - gutter;

  const place = (event: MouseEvent): Point => {
    const box = scroller.current?.getBoundingClientRect();
    return { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) };
  };
  const begin_drag = (from: Point, moved: boolean) => {
    drag.current = { from, view, scroll: scroller.current?.scrollTop ?? 0, is_on_ruler: from.y < ruler && from.x >= gutter, moved };
  };
  const down = (event: PointerEvent) => {
    const at = place(event);
    if (event.button !== 0 || at.x > width) return;
    scroller.current?.focus({ preventScroll: true });
    // touches are captured anyway
    if (event.pointerType !== 'touch') scroller.current?.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, at);
    const [first, second] = [...fingers.current.values()];
    if (first !== undefined && second !== undefined) {
      drag.current = undefined;
      pinch.current = { from: [first, second], view };
    } else begin_drag(at, false);
  };
  const move = (event: PointerEvent) => {
    const at = place(event);
    if (fingers.current.has(event.pointerId)) fingers.current.set(event.pointerId, at);
    const [first, second] = [...fingers.current.values()];
    if (pinch.current !== undefined && first !== undefined && second !== undefined) {
      return set_view(pinched(pinch.current.view, bounds, pinch.current.from, [first, second], gutter, plot_px));
    }
    const dragged = drag.current;
    if (dragged === undefined) return point(at);
    if (Math.abs(at.x - dragged.from.x) + Math.abs(at.y - dragged.from.y) > click_px) dragged.moved = true;
    if (!dragged.moved) return;
    if (dragged.is_on_ruler) {
      const time = (x: number) => dragged.view.from + ((Math.min(width, Math.max(gutter, x)) - gutter) / plot_px) * (dragged.view.to - dragged.view.from);
      const [from, to] = [time(dragged.from.x), time(at.x)];
      return measure({ from: Math.min(from, to), to: Math.max(from, to) });
    }
    set_view(panned(dragged.view, bounds, (dragged.from.x - at.x) / plot_px));
    scroller.current?.scrollTo({ top: dragged.scroll + dragged.from.y - at.y });
  };
  const lift = (event: PointerEvent, is_click: boolean) => {
    if (!fingers.current.delete(event.pointerId)) return;
    const [left] = fingers.current.values();
    if (pinch.current !== undefined) {
      // the remaining finger continues to move
      pinch.current = undefined;
      if (left !== undefined) begin_drag(left, true);
      return;
    }
    const was_click = is_click && drag.current?.moved === false;
    drag.current = undefined;
    if (was_click) click(place(event));
  };

  const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
  wheel.current = (event) => {
    const in_px = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? line_px : 1;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const turned = event.deltaY * in_px;
      const rate = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL && Math.abs(turned) < most_pinch ? pinch_rate : wheel_rate;
      set_view((before) => {
        const at = before.from + ((place(event).x - gutter) / plot_px) * (before.to - before.from);
        return zoomed(before, bounds, Math.exp(turned * rate), at);
      });
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = (event.deltaX === 0 ? event.deltaY : event.deltaX) * in_px;
      set_view((before) => panned(before, bounds, by / plot_px));
    }
  };
  useEffect(() => {
    const element = scroller.current;
    const turn = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  }, []);

  return {
    onPointerDown: down,
    onPointerMove: move,
    onPointerUp: (event: PointerEvent) => lift(event, true),
    // the browser scrolls with that finger instead
    onPointerCancel: (event: PointerEvent) => lift(event, false),
    onPointerLeave: () => point(undefined),
  };
}
