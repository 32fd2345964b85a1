import { createActor, createMachine, toPromise, type InspectionEvent } from 'xstate'
import { agentLogic } from '../../../src/xstate.ts'
import { judge, judged } from '../../../test/judges/judge.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { begin, talker } from './logicParts.ts'

interface Message {
  readonly type: string
  readonly name?: string
  readonly sessionId: string
  readonly parentId?: string
  readonly rootId?: string
}

interface Stately {
  createInspector(adapter: { send(message: unknown): void }): { readonly inspect: (event: InspectionEvent) => void }
}

const timeoutMs = 15_000

describe("Stately's inspector of a machine with an agent", (it) => {
  const shown = judged(it)

  shown(
    'is shown the actors of the agent below it, linked, and none of what its tools are given',
    { timeoutMs },
    async (context) => {
      const { createInspector } = await judge<Stately>('@statelyai/inspect')
      const runtime = await begin(context)
      const messages: Message[] = []
      const inspector = createInspector({ send: (message) => void messages.push(message as Message) })
      const logic = agentLogic(runtime, talker, { deps: { apiKey: 'sk-very-secret' } })
      const machine = createMachine({
        id: 'order',
        initial: 'asking',
        states: {
          asking: { invoke: { src: logic, id: 'support', input: { id: 'order-17', prompt: 'Help.' }, onDone: 'done' } },
          done: { type: 'final' },
        },
      })
      await toPromise(createActor(machine, { id: 'order', inspect: inspector.inspect }).start())
      // It writes when it has time.
      const isDone = ({ sessionId, type }: Message): boolean =>
        type === '@xstate.snapshot' && sessionId === messages[0]?.sessionId
      while (!messages.some(isDone)) await new Promise((resolve) => setImmediate(resolve))
      const actors = messages.filter(({ type }) => type === '@xstate.actor')
      const nameOf = (sessionId: string | undefined) => actors.find((actor) => actor.sessionId === sessionId)?.name
      assert.equal(
        actors.slice(0, 4).map(({ name, parentId }) => [name, nameOf(parentId)]),
        [
          ['order', undefined],
          ['support', 'order'],
          ['order-17', 'support'],
          ['reply', 'order-17'],
        ],
      )
      assert.is(new Set(actors.map(({ sessionId }) => sessionId)).size, actors.length)
      assert.not.match(JSON.stringify(messages), 'sk-very-secret')
    },
  )
})
