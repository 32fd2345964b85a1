import { toErrorInfo } from '../../../src/protocol/errors.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { limitsOf } from '../../bridge/src/server/limits.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import type { Chats } from '../src/openChat.ts'
import { overSocket } from '../src/overSocket.ts'

/** A client that is answered, and the chats that it stopped. */
function answered() {
  const clock = simulatedClock()
  const stopped: string[] = []
  let [take, leave] = [(_: string): void => {}, (): void => {}]
  const socket = {
    bufferedAmount: 0,
    send: (_: string, done?: () => void) => done?.(),
    close: () => {},
    onText: (listener: typeof take) => void (take = listener),
    onClose: (listener: () => void) => void (leave = listener),
  }
  const chats = {
    resume: () => new Promise(() => {}),
    stop: async (_: unknown, id: string) => void stopped.push(id),
  } as unknown as Chats
  const access = { clock, limits: limitsOf(), outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL') }
  overSocket(socket, access as unknown as AgentAccess, chats)
  const say = (type: string, requestId: string, id = 'chat'): void => take(JSON.stringify({ type, requestId, id }))
  return { clock, stopped, say, leave: () => leave() }
}

describe('a page that stops to listen', (it) => {
  const ends = [
    ['and stays stops the run', () => {}, ['chat']],
    ['and leaves at once lets the run go on, as one that is only lost', (one) => one.leave(), []],
    ['and asks again lets the run go on', (one) => one.say('resume', 'r2'), []],
    ['and asks for another chat stops the run', (one) => one.say('resume', 'r2', 'other'), ['chat']],
  ] as const satisfies readonly (readonly [string, (one: ReturnType<typeof answered>) => void, readonly string[]])[]
  for (const [title, then, expected] of ends)
    it(title, async () => {
      const one = answered()
      one.say('resume', 'r1')
      one.say('abort', 'r1')
      then(one)
      await one.clock.advance(1_000)
      assert.equal(one.stopped, expected)
    })
})
