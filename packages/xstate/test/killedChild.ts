/** Runs a task whose model never ends its reply, says what it would persist and when it has come that far, and waits to be killed. */
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { actorOf, asker, ending, held, kept, talker } from './logicParts.ts'

const [folder = '', kind = ''] = process.argv.slice(2)
const runtime = await createRuntime({ store: fileStore(folder) })
const { model, definition } = held()
const used = kind === 'held' ? asker('talker') : kind === 'ended' ? talker : definition
const actor = actorOf(runtime, used, { id: 't1', prompt: 'go' })
console.log(JSON.stringify(kept(actor)))
actor.start()
if (kind === 'replying') await model.begun
else if (kind === 'ended') await ending(actor)
else
  await new Promise<void>((resolve) => {
    actor.subscribe(({ pending }) => {
      if (pending.length > 0) resolve()
    })
  })
await runtime.agent('t1')?.durable()
console.log('ready')
setInterval(() => {}, 1_000)
