import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { connect } from '../../src/client.ts'
import { createRuntime, defineAgent, fallback, policyModel } from '../../src/index.ts'
import { each, parallel } from '../../src/groups.ts'
import { describeIssues } from '../../src/protocol/errors.ts'
import { onlyFields } from '../../src/protocol/checks/onlyFields.ts'
import { assert, describe } from '../support/suite.ts'

const model = policyModel(() => 'yes')
const sub = defineAgent({ name: 'sub', model })
const root = join(import.meta.dirname, '..', '..')

/** Options with a wrong name in them, and what is said of it. */
const wrong = [
  [{ limits: { maxTurns: 3 } }, 'limits: "maxTurns" is not known; there are: turns, tokens, costUsd, ms, onLimit'],
  [{ limits: { turn: 3 } }, 'limits: "turn" is not known; did you mean "turns"?'],
  [{ braking: { folds: true } }, 'braking: "folds" is not known; did you mean "fold"?'],
  [{ braking: { fold: { keepStep: 1 } } }, 'braking.fold: "keepStep" is not known; did you mean "keepSteps"?'],
  [{ braking: { stall: { notes: 1 } } }, 'braking.stall: "notes" is not known; did you mean "note"?'],
  [{ compaction: { contextWidow: 3 } }, 'compaction: "contextWidow" is not known; did you mean "contextWindow"?'],
  [{ retry: { attemps: 2 } }, 'retry: "attemps" is not known; '],
  [{ settings: { topK: 1 } }, 'settings: "topK" is not known; did you mean "topP"?'],
  [{ agents: [{ definition: sub, contxt: 'own' }] }, '"contxt" is not known; did you mean "context"?'],
  [{ toolExecution: { bach: 2 } }, 'toolExecution: "bach" is not known; did you mean "batch"?'],
] as const

describe('an unknown field', (it) => {
  for (const [options, text] of wrong)
    it(`of ${JSON.stringify(Object.keys(options))} is told with those there are: ${text.slice(0, 40)}`, () => {
      assert.throws(
        () => defineAgent({ name: 'a', model, ...options } as never),
        (thrown) => {
          assert.ok(thrown instanceof Error && thrown.message.includes(text), String(thrown))
          return true
        },
      )
    })

  it('is told so by the runtime, its groups and clients', async (context) => {
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(sub)
    assert.throws(() => agent.prompt('x', { limits: { turn: 1 } } as never), /limits: "turn" .* did you mean "turns"/)
    assert.throws(() => each(runtime, sub, ['x'], { budget: { token: 1 } } as never), /did you mean "tokens"/)
    assert.throws(() => fallback([model], { onn: [] } as never), /did you mean "on"/)
    await assert.rejects(parallel(runtime, [sub], 'x', { limits: { turn: 1 } } as never), /did you mean "turns"/)
    await assert.rejects(runtime.serve({ limits: { connection: 1 } } as never), /did you mean "connections"/)
    await assert.rejects(createRuntime({ models: { concurency: 1 } } as never), /models: .* did you mean "concurrency"/)
    await assert.rejects(createRuntime({ redact: { secret: {} } } as never), /redact: .* did you mean "secrets"/)
    assert.throws(() => connect('ws://h', { retry: { baseMS: 1 } } as never), /retry: .* did you mean "baseMs"/)
  })

  it('is looked for in what the schema became', () => {
    const extended = onlyFields({ first: z.string() }).extend({ second: z.string() })
    const { error } = extended.safeParse({ first: 'a', second: 'b', secondd: 'c' })
    assert.is(describeIssues(error!), '"secondd" is not known; did you mean "second"?')
    const chosen = z.union([z.boolean(), onlyFields({ on: z.boolean() })]).safeParse({ off: true })
    assert.ok(describeIssues(chosen.error!).includes('"off" is not known; there are: on'))
  })

  it('is never told in the words of zod: every strict object is made here', () => {
    const own = ['src/protocol/checks/onlyFields.ts', 'src/protocol/checks/strictOutput.ts']
    const found = globSync('{src,packages/*/src}/**/*.ts', { cwd: root })
      .filter((path) => !own.includes(path) && !path.startsWith('packages/page/src/inspector'))
      .filter((path) => /strictObject\(/.test(readFileSync(join(root, path), 'utf8')))
    assert.equal(found, [])
  })
})
