/** Has a machine and an agent of a shared store until it is killed. At SIGUSR2 it gives the machine another event, and says with which code that failed. */
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { counter } from './hostParts.ts'
import { openShared, type SharedKind, talker } from './sharedHost.ts'

const [kind = '', dir = ''] = process.argv.slice(2)
const runtime = await createRuntime({ store: openShared(kind as SharedKind, dir) })
const hosted = await hostMachine(runtime, counter(), { id: 'c' })
void hosted.done.catch(() => {})
await hosted.send({ type: 'add', by: 1 }, { requestId: 'first' })
await (await runtime.open('a', talker)).durable()
process.on('SIGUSR2', () => {
  hosted.send({ type: 'add', by: 5 }).then(
    () => console.log('taken'),
    (thrown: unknown) => console.log(toErrorInfo(thrown, 'INTERNAL').code),
  )
})
console.log('ready')
setInterval(() => {}, 1_000)
