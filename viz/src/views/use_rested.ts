// Returns a value once it has rested for a while, for what is too slow to follow each movement.
import { useEffect, useState } from 'preact/hooks';

const rest_ms = 250;

export function use_rested<Value>(value: Value): Value {
  const [rested, set_rested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set_rested(() => value), rest_ms);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
