/** An agent whose one call of a service is under way when the process is killed: `<folder> <address> <method>`. */
import { createRuntime, fileStore } from '../../../src/index.ts'
import { caller } from './crashAgent.ts'

const [folder = '', url = '', method = ''] = process.argv.slice(2)
const runtime = await createRuntime({ store: fileStore(folder) })
const agent = await runtime.spawn(await caller(url, method), { id: 'caller' })
agent.prompt('go')
