import { defineAgent } from '../../../packages/define/src/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { sqliteStore } from '../../../packages/sqlite/src/sqliteStore.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'

// Wakes agents until it is killed.
const [, , file = ''] = process.argv
const runtime = await createRuntime({ store: sqliteStore(file), idleUnloadMs: 1_000 })
runtime.wake({
  definitions: [defineAgent({ name: 'worker', model: policyModel(() => 'fine') })],
  everyMs: 20,
  atOnce: 8,
})
process.stdout.write('ready\n')
