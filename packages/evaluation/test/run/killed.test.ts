import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineAgent, policyModel } from '../../../../src/index.ts'
import { evaluate } from '../../../../src/testing.ts'
import { cliCommand, projectFolder, startChild } from '../../../cli/test/cliChild.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const script = fileURLToPath(new URL('evalChild.ts', import.meta.url))

describe('an evaluation whose process is killed', (it) => {
  it(
    'loses no finished trial, makes none of them again, and counts what the one under way had cost',
    { timeoutMs: 30_000 },
    async (context) => {
      const root = projectFolder(context, {
        'mini/a/task.json': '{ "prompts": ["a", "b"], "check": { "answer": "yes" } }',
        'mini/b/task.json': '{ "prompts": ["b"], "check": { "answer": "yes" } }',
      })
      const [suite, out] = [join(root, 'mini'), join(root, 'results')]
      const child = startChild(context, cliCommand([suite, out, join(root, 'gate')], script), { cwd: root })
      await child.until('waiting')
      child.signal('SIGKILL')
      await child.ended
      const before = readFileSync(join(out, 'results.jsonl'), 'utf8')
      // As if the machine had stopped in the middle of the next line.
      writeFileSync(join(out, 'results.jsonl'), `${before}{"type":"trial","key":"b/st`)
      const finished = before
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => (JSON.parse(line) as { key: string }).key)
      assert.ok(finished.length === 4)

      const asked: string[] = []
      const model = policyModel(
        ({ messages }) => {
          asked.push(JSON.stringify(messages.at(-1)?.content))
          return { text: 'yes', usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 } }
        },
        { id: 'live:gated' },
      )
      const agent = defineAgent({ name: 'gated', model, pricing: { input: 0, output: 1_000_000 } })
      const { results, spentUsd } = await evaluate(agent, suite, {}, { out, arms: ['off', 'stall+revert'], trials: 3 })
      assert.is(results.length, 12)
      assert.ok(readFileSync(join(out, 'results.jsonl'), 'utf8').startsWith(before))
      // One of them was an answer of the trial that was under way, which is begun anew. Two prompts in each of six trials of a, one in each of six of b: seven were answered before.
      assert.is(asked.length + 7, 18 + 1)
      assert.is(spentUsd, 18 + 1)
    },
  )
})
