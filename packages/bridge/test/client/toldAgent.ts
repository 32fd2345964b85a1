import type { AgentEvent } from '../../../../src/index.ts'
import type { Followed } from '../../src/client/agentStore.ts'

/** An agent that says what it is subscribed to, and hears what a case tells it. */
export function toldAgent() {
  type Options = NonNullable<Parameters<Followed['subscribe']>[1]>
  const calls: string[] = []
  let listener!: (event: AgentEvent) => unknown
  let options!: Options
  const agent = {
    id: 'a',
    subscribe(heard: (event: never) => unknown, how: Options) {
      listener = heard as typeof listener
      options = how
      calls.push(`from ${how.fromSeq}`)
      return () => void calls.push('end')
    },
    snapshot: async () => ({
      state: 'idle',
      pause: null,
      path: [],
      tree: { id: 'a', children: [] },
      approvals: [],
      asked: [],
    }),
  } as unknown as Followed
  return { agent, calls, tell: (event: object) => listener(event as AgentEvent), options: () => options }
}

export const own = { agentId: 'a', path: [], v: 3, time: 0 }
export const prompted = (seq: number, text: string): object => ({
  ...own,
  seq,
  type: 'message.added',
  nodeId: seq,
  message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
})
