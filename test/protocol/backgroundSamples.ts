/** A record of each kind about calls in the background, with everything that may stand in it. */
export const backgroundSamples = (inTurn: object): readonly Record<string, unknown>[] => [
  { ...inTurn, type: 'call.noted', callId: 'c', key: 'k', id: 'b1', name: 't', left: { pid: 7, start: 's' } },
  {
    ...inTurn,
    type: 'call.reported',
    callId: 'c',
    key: 'k',
    id: 'b1',
    name: 't',
    content: [{ type: 'text', text: 'done' }],
    isError: false,
    ended: 'cancelled',
    data: { rows: 1 },
    changed: ['a.txt'],
    receipt: { of: 'a.txt', data: 1 },
    hook: 'replaced',
  },
]
