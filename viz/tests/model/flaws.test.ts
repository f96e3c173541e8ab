import { describe, expect, it } from 'vitest';
import { flaw_text, lost_records } from '../../src/model/flaws';

const cut = { file: '/tmp/out/rank-1.penstock', offset_bytes: 300000, what: 'cut off; what stands before it was used', loses_records: true };
const rebuilt = { file: '/usr/bin/app', offset_bytes: null, what: 'another build now', loses_records: false };

describe('flaws', () => {
  it('are told with their file and byte', () => {
    expect(flaw_text(cut)).toBe('rank-1.penstock, byte 300000: cut off; what stands before it was used');
    expect(flaw_text(rebuilt)).toBe('app: another build now');
  });

  it('that lose records are told once each, and others are not among them', () => {
    expect(lost_records([cut, rebuilt, cut])).toEqual([flaw_text(cut)]);
    expect(lost_records([rebuilt, { file: 'old', offset_bytes: null, what: 'in a report of an earlier version' }])).toEqual([]);
  });
});
