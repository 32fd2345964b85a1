/**
 * One life of a server that will be killed: `node brakedChild.ts <folder> <port>` serves the agents of `brakedAgents` from the logs of
 * that folder. Prints `ready`.
 */
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { brakedAgents } from './brakedAgents.ts'

const [folder = '', port] = process.argv.slice(2)
const runtime = await createRuntime({ store: fileStore(folder) })
await runtime.serve({ port: Number(port), definitions: brakedAgents })
process.stdout.write('ready\n')
