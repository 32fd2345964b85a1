/** With the development build of XState, which warns of what is doubtful: actors that end in every way. `loud`: one thing that it warns of. */
import { createActor, createMachine, waitFor } from 'xstate'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { actorOf, asker, ending, held, talker } from './logicParts.ts'

const runtime = await createRuntime()
for (const onStop of ['abort', 'suspend', 'leave'] as const) {
  const { model, definition } = held()
  const parent = createMachine({
    initial: 'asking',
    states: {
      asking: {
        invoke: { src: agentLogic(runtime, definition, { onStop }), input: { id: `t-${onStop}`, prompt: 'go' } },
        on: { again: { target: 'asking', reenter: true } },
      },
    },
  })
  const actor = createActor(parent).start()
  await model.begun
  actor.send({ type: 'again' })
  await quiet()
  actor.stop()
  model.release()
  await quiet()
  if (process.argv[2] === 'loud') actor.send({ type: 'again' })
}
await ending(actorOf(runtime, talker, { prompt: 'x' }).start())
const stopped = actorOf(runtime, asker(), { prompt: 'x' }).start()
await waitFor(stopped, ({ pending }) => pending.length > 0)
stopped.stop()
const bad = actorOf(runtime, talker, 5 as never).start()
bad.stop()
const closed = actorOf(runtime, talker, { id: 'c1' }).start()
await waitFor(closed, ({ state }) => state === 'idle')
await runtime.close()
console.log('done')
