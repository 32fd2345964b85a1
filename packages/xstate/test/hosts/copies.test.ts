import * as own from 'xstate'
import * as xstate520 from 'xstate-5-20'
import * as xstate528 from 'xstate-5-28'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { agentLogic } from '../../src/agentLogic.ts'
import { defineHost } from '../../src/hosts/defineHost.ts'
import { durable } from '../../src/hosts/durable.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { begin, boss } from '../logicParts.ts'

type XState = Pick<typeof own, 'setup' | 'assign' | 'sendTo' | 'raise' | 'fromPromise' | 'fromCallback'>

const copies: readonly (readonly [name: string, copy: XState])[] = [
  ['5.20', xstate520 as unknown as XState],
  ['5.28', xstate528 as unknown as XState],
  ['the newest', own],
]

for (const [name, { setup, assign, sendTo, raise, fromPromise, fromCallback }] of copies)
  describe(`a hosted machine of XState ${name}`, (it) => {
    it('has its delays, effects, callbacks and agents, closed and opened in between', async (context) => {
      const store = memoryStore()
      const clock = simulatedClock()
      const heard: string[] = []
      const host = defineHost({
        name: 'all',
        effects: { plain: 'none' },
        machine: (runtime) =>
          setup({
            types: {
              context: {} as { readonly said: readonly string[] },
              events: {} as { readonly type: 'approval.requested' | 'later'; readonly key?: string },
              children: {} as { desk: 'support'; bell: 'bell' },
            },
            actors: {
              plain: fromPromise(async () => 'plain'),
              work: durable(async () => 'work', { effects: 'idempotent' }),
              bell: fromCallback(({ receive }) => receive(({ type }) => heard.push(type))),
              support: agentLogic(runtime, boss(), { tell: ['approval.requested'] }),
            },
          }).createMachine({
            id: 'all',
            context: { said: [] },
            invoke: { id: 'bell', src: 'bell' },
            initial: 'waiting',
            states: {
              waiting: {
                entry: raise({ type: 'later' }, { delay: 50 }),
                on: { later: 'working' },
              },
              working: {
                entry: sendTo('bell', { type: 'ring' }),
                invoke: {
                  id: 'w',
                  src: 'work',
                  onDone: {
                    target: 'plain',
                    actions: assign({ said: ({ context: { said }, event }) => [...said, event.output] }),
                  },
                },
              },
              plain: {
                invoke: {
                  id: 'p',
                  src: 'plain',
                  onDone: {
                    target: 'asking',
                    actions: assign({ said: ({ context: { said }, event }) => [...said, event.output] }),
                  },
                },
              },
              asking: {
                invoke: {
                  id: 'desk',
                  src: 'support',
                  input: { prompt: 'go' },
                  onDone: {
                    target: 'over',
                    actions: assign({ said: ({ context: { said }, event }) => [...said, event.output.text] }),
                  },
                },
                on: {
                  'approval.requested': {
                    actions: sendTo('desk', ({ event }) => ({
                      type: 'decide',
                      callId: event.key ?? '',
                      decision: 'approve',
                    })),
                  },
                },
              },
              over: { type: 'final' },
            },
            output: ({ context: { said } }) => said.toSorted(),
          }),
      })
      const first = await hostMachine(await begin(context, store, { clock }), host, { id: 'h' })
      await first.close()
      await clock.advance(50)
      const again = await hostMachine(await begin(context, store, { clock }), host, { id: 'h' })
      await clock.advance(0)
      const done = again.done
      while (again.view.status === 'active') await clock.advance(1_000)
      assert.equal([await done, heard], [['all done', 'plain', 'work'], ['ring']])
    })
  })
