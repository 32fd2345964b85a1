/**
 * One life of a server that will be killed: `node serveChild.ts <folder> <port> [<origin>]` serves the agent `looking` from the
 * logs of that folder. Prints `ready`.
 */
import { systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { createRuntime } from '../../../src/createRuntime.ts'
import { fileStore } from '../../../../stores/src/fileStore.ts'
import { lookingAgent } from './lookingAgent.ts'

const [folder = '', port, origin] = process.argv.slice(2)
const runtime = await createRuntime({ store: fileStore(folder) })
await runtime.serve({
  port: Number(port),
  definitions: [lookingAgent(systemClock, 1)],
  ...(origin === undefined ? {} : { origins: [origin] }),
})
process.stdout.write('ready\n')
