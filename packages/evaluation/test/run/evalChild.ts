/** An evaluation in a process of its own, whose trials say that they have begun and wait for a file: `evalChild.ts <suite> <out> <gate>`. */
import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { defineAgent, policyModel } from '../../../../src/index.ts'
import { evaluate } from '../../../../src/testing.ts'

const [suite = '', out = '', gate = ''] = process.argv.slice(2)

/** The eighth request, and those after it, wait until the gate is there. */
let asked = 0
const model = policyModel(
  async () => {
    asked += 1
    if (asked > 7) {
      process.stdout.write('waiting\n')
      await new Promise<void>((resolve) => {
        const watcher = watch(dirname(gate), () => {
          if (!existsSync(gate)) return
          watcher.close()
          resolve()
        })
      })
    }
    return { text: 'yes', usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 } }
  },
  { id: 'live:gated' },
)
const agent = defineAgent({ name: 'gated', model, pricing: { input: 0, output: 1_000_000 } })
await evaluate(agent, suite, {}, { out, arms: ['off', 'stall+revert'], trials: 3, concurrency: 1 })
