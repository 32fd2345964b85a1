/** Frames that are almost right: one of ours, with something changed. */
const good = [
  { type: 'agent.prompt', id: '1', agentId: 'a1', content: 'x' },
  { type: 'agent.steer', id: '1', agentId: 'a1', content: [{ type: 'text', text: 'x' }] },
  { type: 'agent.decide', id: '1', agentId: 'a1', callId: 'c', decision: 'approve' },
  { type: 'agent.revert', id: '1', agentId: 'a1', step: 'n1', category: 'failure' },
  { type: 'agent.prune', id: '1', agentId: 'a1', steps: ['n1'], tokens: 1 },
  { type: 'agent.compact', id: '1', agentId: 'a1', focus: 'x' },
  { type: 'agent.pin', id: '1', agentId: 'a1', step: 'n1' },
  { type: 'agent.spawn', id: '1', definition: 'busy' },
  { type: 'agent.list', id: '1' },
  { type: 'agent.subscribe', id: '1', agentId: 'a1' },
  { type: 'ping' },
]

const wrongValues: readonly unknown[] = [
  null,
  -1,
  1.5,
  2 ** 53,
  '',
  'x'.repeat(200),
  '../../etc/passwd',
  '__proto__',
  '\u0000',
  '\ud800',
  [],
  {},
  [[]],
  { type: 'xstate.stop' },
  true,
  'a b',
]

const machineEvents = ['xstate.stop', 'xstate.init', 'xstate.done.actor.x', 'prompt', 'abort', 'stop', 'store.failed']

/** A message that no server should take for a command; `random` gives numbers from 0 to 1. */
export function wrongFrame(random: () => number): string {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const frame = structuredClone(pick(good)) as Record<string, unknown>
  switch (Math.floor(random() * 8)) {
    case 0:
      return JSON.stringify({ ...frame, type: pick(machineEvents) })
    case 1:
      frame[pick(['type', 'id'])] = pick(wrongValues)
      return JSON.stringify({ ...frame, extra: pick(wrongValues) })
    case 2:
      delete frame['type']
      return JSON.stringify(frame)
    case 3:
      return JSON.stringify({ ...frame, [pick(['extra', 'constructor', 'toString', 'signal'])]: pick(wrongValues) })
    case 4:
      return JSON.stringify(frame).slice(0, Math.floor(random() * 14))
    case 5:
      return JSON.stringify([frame, frame])
    case 6:
      return '[{"a":'.repeat(1 + Math.floor(random() * 5_000))
    default:
      return `{"type":"agent.abort","id":"1","agentId":"a1","__proto__":${JSON.stringify(pick(wrongValues))}}`
  }
}
