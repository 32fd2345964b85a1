/** A worker as a process of its own: `node workerProcess.ts <database> <secret> [hangs]`. It says its address once it is reached. */
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { sqliteStore } from '../../../sqlite/src/sqliteStore.ts'
import { storyteller } from './storyteller.ts'

const [, , file = '', secret = '', hangs] = process.argv
const runtime = await createRuntime({ store: sqliteStore(file) })
const definition = storyteller({ hangs: hangs === 'hangs' })
const server = await runtime.serve({ definitions: [definition], gatewaySecret: secret })
process.stdout.write(`${server.url}\n`)
