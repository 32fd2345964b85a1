import { keep } from '../src/keep.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { fakeConsultation } from './fakeConsultation.ts'
import { kept, memoOf, partOf, worked } from './keptSteps.ts'

describe('what the kernel does by itself', (it) => {
  it('is asked for by name', async () => {
    assert.equal(await kept(keep.nothing()), { as: 'memo' })
    assert.equal(await kept(keep.notes()), { as: 'lines' })
    assert.equal(await kept(keep.rollUp()), { as: 'lines', rollUp: true })
    assert.equal(await kept(keep.masked()), { as: 'calls' })
  })
})

describe('line', (it) => {
  it('says in one line what was called and what changed', async () => {
    assert.is(
      await memoOf(keep.line()),
      'n2–n8 4 steps; read_file ×1, run ×1, deploy ×1, edit_file ×1, pay ×1; changed: src/token.ts',
    )
  })

  it('says of a single step what it did', async () => {
    assert.is(await memoOf(keep.line(), {}, 'n2'), 'n2 read_file src/lexer.ts')
  })

  it('is short, whatever the steps held', async () => {
    const log = new BrakeLog()
    for (let i = 0; i < 50; i++) log.step([{ name: `tool_${i}`, changed: [`src/some/long/path/${i}.ts`] }])
    const memo = await memoOf(keep.line(), { log })
    assert.ok(memo.length <= 240 && !memo.includes('\n'), memo)
  })
})

describe('summary', (it) => {
  it('is written by the agent’s model, and names computed files and what was lost', async () => {
    const at = fakeConsultation({ log: worked(), answers: ['  Done: the lexer is fine.\n'] })
    assert.equal(await keep.summary().keep(partOf(at), at), {
      as: 'memo',
      memo: 'Done: the lexer is fine.\nFiles changed: src/token.ts\nFiles read: src/lexer.ts',
    })
    const [question] = at.asked
    assert.is(question!.model, undefined)
    assert.is(question!.maxTokens, 200)
    assert.match(question!.system, /At most 200 tokens/)
    assert.match(question!.text, /^<transcript>\n<transcript-entry id="n2"/)
    assert.not.match(question!.text, /fix the parser/)
  })

  it('asks the model that it was given, with its focus and its limit', async () => {
    const small = scriptedModel([])
    const at = fakeConsultation({ log: worked(), answers: ['src/token.ts'] })
    await keep.summary(small, { focus: 'the cause', maxTokens: 60 }).keep(partOf(at), at)
    const { model, system, maxTokens } = at.asked[0]!
    assert.equal([model, maxTokens], [small, 60])
    assert.match(system, /Above all keep: the cause\nAt most 60 tokens/)
  })

  it('names what the last steps named and the summary does not', async () => {
    const log = new BrakeLog()
    log.step([{ name: 'find', input: { word: 'old_name' }, output: 'x'.repeat(4_000) }])
    log.step([{ name: 'find', input: { word: 'parse_user' } }])
    log.step([
      { name: 'find', input: { word: 'parse_user', in: 'src/parser.ts' } },
      { name: 'prun', input: { memo: 'some_memo' } },
    ])
    log.step([{}])
    const memo = (answer: string): Promise<string> => memoOf(keep.summary(), { log, answers: [answer] })
    assert.is(await memo('Done.'), 'Done.\nNamed in the last steps: parse_user, src/parser.ts')
    assert.is(await memo('parse_user is in src/parser.ts.'), 'parse_user is in src/parser.ts.')
  })

  it('may write more for more steps, up to 2,000 tokens', async () => {
    for (const chars of [30_000, 300_000]) {
      const log = new BrakeLog()
      log.step([{ output: 'x'.repeat(chars) }])
      log.step([{}])
      const at = fakeConsultation({ log, answers: ['short'] })
      const part = partOf(at)
      await keep.summary().keep(part, at)
      assert.is(at.asked[0]!.maxTokens, chars === 30_000 ? Math.round(part.tokens / 10) : 2_000)
    }
  })

  for (const [title, answer, expected] of [
    ['is empty', ' \n', /the model wrote an empty summary/],
    [
      'is not under a tenth of the steps',
      'word '.repeat(100),
      /the summary has \d+ tokens, not under a tenth of the \d+ that/,
    ],
  ] as const)
    it(`fails when it ${title}`, async () => {
      await assert.rejects(kept(keep.summary(), { answers: [answer] }), expected)
    })

  it('fails when the model does', async () => {
    await assert.rejects(kept(keep.summary(), { answers: [new Error('429')] }), /429/)
  })

  it('refuses wrong arguments by name', () => {
    assert.throws(() => keep.summary({} as never), withCode('INVALID_DEFINITION', 'keep.summary: a model has'))
    assert.throws(() => keep.summary(undefined, { focus: '' }), withCode('INVALID_OPTION', 'keep.summary: focus'))
    assert.throws(
      () => keep.summary(undefined, { maxTokens: 1 }),
      withCode('INVALID_OPTION', 'keep.summary: maxTokens'),
    )
    assert.throws(() => keep.summary(undefined, { tone: 'x' } as never), withCode('INVALID_OPTION', 'tone'))
  })
})
