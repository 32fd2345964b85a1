import { runChecks } from '../src/checks/runChecks.ts'
import { JudgeFailure } from '../src/checks/judge.ts'
import type { Check } from '../src/suite/task.ts'
import { errorInfo } from '../../../src/protocol/errors.ts'
import { simulatedClock } from '../src/testing/simulatedClock.ts'
import type { CheckPorts } from '../src/checks/runChecks.ts'
import { assert, describe } from '../../../test/support/suite.ts'

function portsWith(change: Partial<CheckPorts> = {}, trial: Partial<CheckPorts['trial']> = {}) {
  const clock = simulatedClock()
  const ports: CheckPorts = {
    clock,
    scorers: {},
    trial: {
      task: 'a',
      arm: 'off',
      trial: 0,
      seed: 1,
      dir: '.',
      prompts: ['Hi.'],
      answer: 'the answer',
      result: null,
      records: new Map(),
      metrics: null,
      signal: new AbortController().signal,
      run: async (command) => ({ code: command === 'true' ? 0 : 1, output: `ran ${command}\n`, timedOut: false }),
      ...trial,
    },
    ...change,
  }
  return { clock, ports }
}

describe('checks', (it) => {
  it('of JSON hold an answer to all that its schema says, as the arguments of tools are', async () => {
    const odd = { anyOf: [{ required: ['a'] }, { required: ['constructor'] }], properties: { a: { type: 'string' } } }
    for (const [json, answer, passes] of [
      [{ required: ['passed'] }, '{}', false],
      [{ required: ['passed'] }, '{"passed":1}', true],
      [odd, '{}', false],
      [odd, '{"a":"x"}', true],
      [{ type: 'object', allOf: [{ required: ['b'] }] }, '{"a":1}', false],
    ] as const) {
      const [score] = await runChecks([{ json }], portsWith({}, { answer }).ports)
      assert.is(score!.passed, passes, `${JSON.stringify(json)} ${answer}`)
      assert.is(score!.reason === undefined, passes)
    }
  })

  it('give a scorer that hangs a minute, and then go on without it', async () => {
    const { clock, ports } = portsWith({ scorers: { hangs: () => new Promise(() => {}), fine: () => 1 } })
    const done = runChecks([{ scorer: 'hangs' }, { scorer: 'fine' }], ports)
    await clock.advance(60_000)
    assert.equal(
      (await done).map(({ name, passed, reason }) => [name, passed, reason]),
      [
        ['hangs', false, 'it took longer than 60000 ms'],
        ['fine', true, undefined],
      ],
    )
    assert.is(clock.pending, 0)
  })

  it('have a name of their own, or one of what they check, and keep long reasons short', async () => {
    const checks: Check[] = [
      { command: 'true' },
      { command: 'false', name: 'never' },
      { answer: 'answer' },
      { answer: { matches: '^the' }, weight: 3 },
      { answer: 'x' },
      { json: {}, file: 'package.json' },
    ]
    const { ports } = portsWith({}, { answer: `the answer ${'.'.repeat(9_000)}` })
    const scores = await runChecks(checks, ports)
    assert.equal(
      scores.map(({ name, value, weight }) => [name, value, weight]),
      [
        ['true', 1, 1],
        ['never', 0, 1],
        ['answer', 1, 1],
        ['answer', 1, 3],
        ['answer', 0, 1],
        ['package.json fits the schema', 1, 1],
      ],
    )
    assert.is(scores[1]!.reason, 'ran false\n[exit code 1]')
    assert.ok(scores[4]!.reason!.length <= 2_000)
  })

  it('are not made once the evaluation is aborted', async () => {
    const { ports } = portsWith({ scorers: { never: () => assert.unreachable() } }, { signal: AbortSignal.abort() })
    assert.equal((await runChecks([{ scorer: 'never' }], ports))[0]!.reason, 'aborted')
  })

  it('know nothing of a trial whose judge did not come to a verdict', async () => {
    const failure = new JudgeFailure(errorInfo('MODEL_NETWORK', 'No connection.'))
    const { ports } = portsWith({ judge: () => Promise.reject(failure) })
    assert.is(await assert.rejects(runChecks([{ judge: 'Kind.' }], ports), JudgeFailure), failure)
    assert.is((await runChecks([{ judge: 'Kind.' }], portsWith().ports))[0]!.reason, 'the judge was not asked')
  })
})
