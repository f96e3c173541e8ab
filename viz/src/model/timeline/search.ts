// Binary searches in sorted columns.

/** Returns the first index whose value is larger than `value`. */
export function first_above(column: Float64Array, value: number, from = 0): number {
  let low = from;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((column[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Does the same; fast if the result is near `from`. */
export function next_above(column: Float64Array, value: number, from: number): number {
  let step = 1;
  let low = from;
  while (low + step < column.length && (column[low + step] as number) <= value) {
    low += step;
    step *= 2;
  }
  let high = Math.min(column.length, low + step + 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((column[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
