// Paints the visible part of the timeline on a canvas.
import { scaleLinear } from 'd3-scale';
import { add_lane, Boxes } from '../../model/timeline/boxes';
import type { Range, TimelineModel, Track } from '../../model/timeline/decode';
import { can_fold } from '../../model/timeline/display';
import { main_stream_of, place_of, rows_between, waits_of, waits_part, type Layout, type OthersRow, type RankRow, type Row } from '../../model/timeline/layout';
import { range_of, shortest_of, type Selection } from '../../model/timeline/navigation';
import { moment_text, name_of, ns_text, shortened } from '../../model/timeline/words';

export const ruler_px = 26;
/** If messages are closer than this, arrows would hide what is behind them. */
const arrow_px = 10;
export const most_arrows = (plot_px: number) => Math.floor(plot_px / arrow_px);

export interface Colours {
  readonly paper: string;
  readonly raised: string;
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly focus: string;
  /** One per state. */
  readonly states: readonly string[];
  /** Colours of text on these. */
  readonly inks: readonly string[];
}

export interface Scene {
  readonly model: TimelineModel;
  readonly layout: Layout;
  readonly view: Range;
  readonly width: number;
  readonly height: number;
  readonly gutter: number;
  readonly scroll: number;
  readonly selection: Selection | undefined;
  readonly mark: Range | undefined;
  readonly colours: Colours;
}

const font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
const character_px = 6.63;
const least_label_px = 26;

const boxes = new Boxes();

/** States whose shares lie behind others, and which are only drawn as pieces. */
const behind = (model: TimelineModel) => model.states.flatMap((state, number) => (state === 'range' ? [number] : []));

/** The opacity of the part of a wait that kernels hid; everything else is opaque. */
const faint = 0.35;
function exposed_share(track: Track, piece: number): number {
  const exposed = track.exposed?.[piece];
  const length = (track.end[piece] ?? 0) - (track.begin[piece] ?? 0);
  return exposed === undefined || length <= 0 ? 1 : Math.min(1, exposed / length);
}

function paint_boxes(context: CanvasRenderingContext2D, scene: Scene, track: Track, y: number, height: number, labels: boolean) {
  const { model, colours, gutter, width } = scene;
  const used = new Set<number>();
  for (let i = 0; i < boxes.count; ++i) used.add(boxes.state[i] as number);
  for (const state of used) {
    context.fillStyle = colours.states[state] ?? colours.soft;
    for (let i = 0; i < boxes.count; ++i) {
      if (boxes.state[i] !== state) continue;
      const box_height = (boxes.height[i] as number) * height;
      // whole pixels; otherwise neighbours show a seam
      const left = Math.round(gutter + (boxes.x[i] as number));
      const box_width = Math.max(1, Math.round(gutter + (boxes.x[i] as number) + (boxes.width[i] as number)) - left);
      const gap = (boxes.piece[i] as number) >= 0 && box_width > 3 ? 1 : 0;
      const bottom = y + height * (1 - (boxes.base[i] as number));
      const opaque = exposed_share(track, boxes.piece[i] as number);
      if (opaque < 1) {
        context.globalAlpha = faint;
        context.fillRect(left, bottom - box_height, box_width - gap, box_height * (1 - opaque));
        context.globalAlpha = 1;
      }
      context.fillRect(left, bottom - box_height * opaque, box_width - gap, box_height * opaque);
    }
  }
  if (!labels) return;
  for (let i = 0; i < boxes.count; ++i) {
    const piece = boxes.piece[i] as number;
    const left = Math.max(0, boxes.x[i] as number);
    const room = Math.min(width - gutter, (boxes.x[i] as number) + (boxes.width[i] as number)) - left - 6;
    if (piece < 0 || room < least_label_px) continue;
    const name = name_of(model, track, piece);
    const characters = Math.floor(room / character_px);
    context.fillStyle = exposed_share(track, piece) < 0.6 ? colours.ink : (colours.inks[boxes.state[i] as number] ?? colours.ink);
    context.fillText(name.length <= characters ? name : `${name.slice(0, characters - 1)}…`, gutter + left + 3, y + height / 2 + 1);
  }
}

function paint_lane(context: CanvasRenderingContext2D, scene: Scene, row: { rank: RankRow['rank'] }, track: Track, lane_number: number, y: number, height: number, labels: boolean) {
  const lane = track.lanes[lane_number];
  if (lane === undefined) return;
  boxes.clear();
  add_lane(boxes, track, lane, lane_number === track.lanes.length - 1, row.rank.detail, scene.model.run, scene.view, scene.width - scene.gutter, behind(scene.model));
  paint_boxes(context, scene, track, y, height, labels);
}

/** Paints a closed rank: its waits and its busiest stream. An open one has only its name here; its tracks are below. */
function paint_rank(context: CanvasRenderingContext2D, scene: Scene, row: RankRow, y: number) {
  const { colours, view, gutter, width } = scene;
  const px = (time: number) => gutter + ((time - view.from) / (view.to - view.from)) * (width - gutter);
  const begin = Math.max(gutter, px(row.rank.begin));
  context.fillStyle = colours.raised;
  context.fillRect(begin, y + 1, Math.min(width, px(row.rank.end)) - begin, row.height - 2);
  if (!row.is_open) {
    const [waits, stream] = [waits_of(row.rank), main_stream_of(row.rank, scene.model.run.to)];
    const upper = Math.round((row.height - 2) * waits_part);
    if (waits !== undefined) paint_lane(context, scene, row, waits, 0, y + 1, upper, false);
    if (stream !== undefined) paint_lane(context, scene, row, stream, stream.lanes.length - 1, y + 1 + upper, row.height - 2 - upper, false);
  }
  if (shortest_of(row.rank) === 0) return;
  context.fillStyle = colours.focus;
  for (const each of row.rank.detail) {
    const left = Math.max(gutter, px(each.from));
    const right = Math.min(width, px(each.to));
    if (right > left) context.fillRect(left, y + row.height - 1, Math.max(2, right - left), 2);
  }
}

function paint_others(context: CanvasRenderingContext2D, scene: Scene, { row, height }: OthersRow, y: number) {
  const { view, gutter, width, model, colours } = scene;
  const kernel = model.states.indexOf('kernel');
  const px_per_bin = ((width - gutter) / (view.to - view.from)) * ((model.run.to - model.run.from) / row.bins);
  const first = Math.max(0, Math.floor(((view.from - model.run.from) / (model.run.to - model.run.from)) * row.bins));
  const left = gutter - ((view.from - model.run.from) / (model.run.to - model.run.from)) * row.bins * px_per_bin;
  for (let bin = first; bin < row.bins; ++bin) {
    const x = left + bin * px_per_bin;
    if (x > width) break;
    const from = Math.max(gutter, Math.round(x));
    const box_width = Math.round(x + px_per_bin) - from;
    const kernels = ((row.kernels[bin] ?? 0) / 255) * (height - 1);
    const waits = ((row.waits[bin] ?? 0) / 255) * (height - 1);
    if (kernels > 0) {
      context.fillStyle = colours.states[kernel] ?? colours.soft;
      context.fillRect(from, y + height - 1 - kernels, box_width, kernels);
    }
    if (waits > 0) {
      context.fillStyle = colours.states[row.states[bin] ?? 0] ?? colours.soft;
      context.fillRect(from, y + Math.max(0, height - 1 - kernels - waits), box_width, waits);
    }
  }
}

function paint_label(context: CanvasRenderingContext2D, scene: Scene, row: Row, y: number) {
  const { colours, gutter } = scene;
  const fits = (text: string, room: number) => shortened(text, Math.floor(room / character_px));
  if (row.kind === 'rank') {
    context.fillStyle = colours.ink;
    const why = row.rank.why === null ? '' : `: ${row.rank.why}`;
    context.fillText(fits(`${row.is_open ? '▾' : '▸'} rank ${row.rank.rank}${why}`, gutter - 10), 6, y + row.height / 2 + 1);
  } else if (row.kind === 'lane') {
    context.fillStyle = colours.soft;
    const fold = row.label === '' || !can_fold(row.rank, row.group) ? '' : row.is_folded ? '▸ ' : '▾ ';
    context.fillText(fits(`${fold}${row.label}`, gutter - 26), 22 - fold.length * 4, y + row.height / 2 + 1);
  } else {
    const [first] = row.row.ranks;
    const last = row.row.ranks[row.row.ranks.length - 1];
    const is_labelled = Math.round(row.y / row.height) % 3 === 0;
    context.fillStyle = colours.soft;
    if (is_labelled) context.fillText(first === last ? `rank ${first ?? ''}` : `ranks ${first ?? ''} … ${last ?? ''}`, 22, y + row.height / 2 + 1);
  }
}

/** Paints the messages; returns how many are in view. */
function paint_messages(context: CanvasRenderingContext2D, scene: Scene): number {
  const { model, layout, view, gutter, width, height, scroll, colours, selection } = scene;
  const { messages } = model;
  const px = (time: number) => gutter + ((time - view.from) / (view.to - view.from)) * (width - gutter);
  const seen: number[] = [];
  for (let i = 0; i < messages.count; ++i) {
    if ((messages.post[i] as number) >= view.to || (messages.complete[i] as number) <= view.from) continue;
    const from_y = layout.calls_y.get(messages.sender[i] as number);
    const to_y = layout.calls_y.get(messages.receiver[i] as number);
    if (from_y === undefined || to_y === undefined) continue;
    const [top, bottom] = from_y < to_y ? [from_y, to_y] : [to_y, from_y];
    if (bottom - scroll < 0 || top - scroll > height) continue;
    seen.push(i);
  }
  if (seen.length > most_arrows(width - gutter)) return seen.length;
  const chosen = selection === undefined ? undefined : range_of(selection);
  for (const is_chosen of [false, true]) {
    context.beginPath();
    for (const i of seen) {
      const post = messages.post[i] as number;
      const complete = messages.complete[i] as number;
      const { rank } = selection?.rank ?? {};
      const touches = chosen !== undefined && (messages.receiver[i] === rank || messages.sender[i] === rank) && complete >= chosen.from && post <= chosen.to;
      if (touches !== is_chosen) continue;
      const [x, x_end] = [px(post), px(complete)];
      const y = ruler_px + (layout.calls_y.get(messages.sender[i] as number) ?? 0) - scroll;
      const y_end = ruler_px + (layout.calls_y.get(messages.receiver[i] as number) ?? 0) - scroll;
      context.moveTo(x, y);
      context.lineTo(x_end, y_end);
      if (Math.abs(x_end - x) < 8) continue;  // heads of steep arrows would hide their targets
      const angle = Math.atan2(y_end - y, x_end - x);
      for (const side of [-0.4, 0.4]) {
        context.moveTo(x_end, y_end);
        context.lineTo(x_end - 7 * Math.cos(angle + side), y_end - 7 * Math.sin(angle + side));
      }
    }
    context.strokeStyle = is_chosen ? colours.focus : colours.ink;
    // many together hide what lies behind them
    context.globalAlpha = is_chosen ? 1 : Math.max(0.12, Math.min(0.6, 60 / Math.max(1, seen.length)));
    context.lineWidth = is_chosen ? 2 : 1;
    context.stroke();
    context.globalAlpha = 1;
  }
  return seen.length;
}

function paint_ruler(context: CanvasRenderingContext2D, scene: Scene) {
  const { view, gutter, width, colours, height, mark } = scene;
  const x = scaleLinear([view.from, view.to], [gutter, width]);
  const ticks = x.ticks(Math.max(2, Math.floor((width - gutter) / 130)));
  const step = (ticks[1] ?? view.to) - (ticks[0] ?? view.from);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, ruler_px);
  for (const tick of ticks) {
    context.fillStyle = colours.rule;
    context.fillRect(Math.round(x(tick)), ruler_px - 7, 1, 7);
    context.fillStyle = colours.soft;
    context.fillText(moment_text(tick, step), x(tick) + 4, ruler_px / 2);
  }
  context.fillStyle = colours.rule;
  context.fillRect(0, ruler_px - 1, width, 1);
  if (mark === undefined) return;
  const [from, to] = [Math.max(gutter, x(mark.from)), Math.min(width, x(mark.to))];
  if (to < gutter || from > width) return;
  context.fillStyle = colours.focus;
  context.globalAlpha = 0.13;
  context.fillRect(from, ruler_px, to - from, height - ruler_px);
  context.globalAlpha = 1;
  context.fillRect(from, 0, 1, height);
  context.fillRect(to - 1, 0, 1, height);
  const text = ns_text(mark.to - mark.from);
  const text_px = text.length * character_px + 8;
  context.fillRect(from, 3, text_px, ruler_px - 7);
  context.fillStyle = colours.paper;
  context.fillText(text, from + 4, ruler_px / 2);
}

/** Returns the number of messages in view. */
export function paint(context: CanvasRenderingContext2D, scene: Scene): number {
  const { colours, width, height, gutter, layout, scroll, selection, view } = scene;
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
  context.font = font;
  context.textBaseline = 'middle';
  const rows = rows_between(layout, scroll, scroll + height - ruler_px);
  context.save();
  context.beginPath();
  context.rect(gutter, ruler_px, width - gutter, height - ruler_px);
  context.clip();
  for (const row of rows) {
    const y = ruler_px + row.y - scroll;
    if (row.kind === 'rank') paint_rank(context, scene, row, y);
    else if (row.kind === 'lane') row.lanes.forEach(({ track, lane }, index) => paint_lane(context, scene, row, track, lane, y, row.height - 1, index === row.lanes.length - 1));
    else paint_others(context, scene, row, y);
  }
  const arrows = paint_messages(context, scene);
  if (selection !== undefined) {
    const { from, to } = range_of(selection);
    const px = (time: number) => gutter + ((time - view.from) / (view.to - view.from)) * (width - gutter);
    const place = place_of(rows, selection);
    if (place !== undefined && px(to) >= gutter && px(from) <= width) {
      const left = Math.max(gutter - 4, px(from));
      context.strokeStyle = colours.ink;
      context.lineWidth = 2;
      context.strokeRect(left - 1, ruler_px + place.y - scroll, Math.max(3, Math.min(width + 4, px(to)) - left + 1), place.height - 1);
    }
  }
  context.restore();
  context.fillStyle = colours.paper;
  context.fillRect(0, ruler_px, gutter, height - ruler_px);
  context.save();
  context.beginPath();
  context.rect(0, ruler_px, gutter, height - ruler_px);
  context.clip();
  for (const row of rows) paint_label(context, scene, row, ruler_px + row.y - scroll);
  context.restore();
  paint_ruler(context, scene);
  context.fillStyle = colours.rule;
  context.fillRect(gutter - 1, 0, 1, height);
  return arrows;
}
