import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { broughtWords, savedWords, tokensWithout } from '../../packages/charts/src/savingsWords.ts'
import { plain } from '../../packages/cli/test/cliTerminal.ts'
import { endedCli, runCli } from '../../packages/cli/test/cliInProcess.ts'
import { metricsOf } from '../../packages/evaluation/src/metrics/metricsOf.ts'
import { reportOf } from '../../packages/evaluation/src/report/reportOf.ts'
import { terminalReport } from '../../packages/evaluation/src/report/terminalReport.ts'
import { madeUpHeader, madeUpResult } from '../../packages/evaluation/test/madeUp.ts'
import { contextUse } from '../../packages/page/src/inspector/model/usage/contextBrakes.ts'
import { savingsOf, type Savings } from '../../packages/sessions/src/savings/savings.ts'
import { createRuntime, defineAgent, defineTool, fileStore, policyModel, type LogRecord } from '../../src/index.ts'
import { totalTokens } from '../../src/protocol/messages.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const pricing = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const turns = 90
const perToken = 3.5

/** Reads page after page, and is billed as by a provider whose cache holds whatever a request has from the one before. */
function reader() {
  let before = ''
  let asked = 0
  return policyModel(
    ({ system, messages }) => {
      const text = system + JSON.stringify(messages)
      let shared = 0
      while (shared < before.length && before[shared] === text[shared]) shared += 1
      // The end of a list is not the end of what a provider caches.
      const [read, all] = [Math.floor(shared / perToken), Math.floor(text.length / perToken)]
      before = text
      asked += 1
      const usage = { input: 0, cacheRead: read, cacheWrite: all - read, output: 30 }
      return asked > turns
        ? { text: 'Read.', usage }
        : { text: `Page ${asked}.`, toolCalls: [{ name: 'read_page', input: { page: asked } }], usage }
    },
    { id: 'lab:reader' },
  )
}

const readPage = defineTool({
  name: 'read_page',
  description: 'Reads a page.',
  input: z.object({ page: z.number() }),
  effects: 'none',
  run: ({ page }) => `Page ${page} says little. `.repeat(150),
})

/** Reads the book; returns the folder of the log, and its records. */
async function readBook({ cleanup }: Pick<CaseContext, 'cleanup'>, fold: boolean) {
  const dir = mkdtempSync(join(tmpdir(), 'escapement-savings-'))
  cleanup(() => rmSync(dir, { recursive: true, force: true }))
  const store = fileStore(join(dir, '.escapement'))
  const runtime = await createRuntime({ store })
  const definition = defineAgent({
    name: 'reader',
    model: reader(),
    tools: [readPage],
    pricing,
    ...(fold ? { braking: { fold: { indexTokens: 0 } } } : {}),
  })
  const agent = await runtime.spawn(definition, { id: 'book' })
  await agent.prompt('Read the book.').result
  const records: LogRecord[] = []
  await runtime.close()
  for await (const record of store.read('book')) records.push(record)
  return { dir, records }
}

describe('an agent that folds', (it) => {
  it('would have cost what the same agent costs that does not', { timeoutMs: 60_000 }, async (context) => {
    const folded = savingsOf((await readBook(context, true)).records)
    const unfolded = savingsOf((await readBook(context, false)).records)
    assert.ok(folded.brakes.length >= 2)
    assert.equal([unfolded.tokens, unfolded.usd, unfolded.brakes], [0, { low: 0, high: 0 }, []])
    const tokens = totalTokens(unfolded.spent.usage)
    assert.ok(Math.abs(tokensWithout(folded) / tokens - 1) < 0.05, `${tokensWithout(folded)} of ${tokens}`)
    const saved = unfolded.spent.costUsd - folded.spent.costUsd
    const { low, high } = folded.usd!
    assert.ok(saved > 0 && low > 0.9 * saved && high < 1.1 * saved, `${low} to ${high}, really ${saved}`)
  })

  it(
    'has saved the same on the page, in the terminal, in the report and in the evaluation',
    { timeoutMs: 60_000 },
    async (context) => {
      const { dir, records } = await readBook(context, true)
      const savings: Savings = savingsOf(records)
      const { low, high } = savings.usd!
      assert.ok(savings.tokens > 100_000 && low > 0)

      const page = contextUse(records, records.length)
      assert.equal(page.savings, savings)
      assert.equal(
        page.brakes.map(({ saving }) => saving),
        savings.brakes,
      )

      const atTerminal = await endedCli(context, ['show', 'book', '--logs', join(dir, '.escapement')], {
        isTerminal: true,
      })
      assert.ok(
        plain(atTerminal.stdout)
          .replaceAll(/\s+/g, ' ')
          .includes(`saved ${savedWords(savings)}`),
        atTerminal.stdout,
      )
      for (const brake of savings.brakes) assert.ok(plain(atTerminal.stdout).includes(broughtWords(brake)))
      const shown = await runCli(context, ['show', 'book'], { cwd: dir })
      const { tokens, usd } = (JSON.parse(shown.stdout) as { savings: Savings }).savings
      assert.equal({ tokens, usd }, { tokens: savings.tokens, usd: savings.usd })

      const metrics = metricsOf([records], { isPriced: true })
      assert.equal([metrics.savedTokens, metrics.savedUsd], [savings.tokens, savings.usd])
      const report = reportOf(madeUpHeader(1, ['fold'], 1), [madeUpResult('task-1', 'fold', 0, { metrics })])
      const { savedTokens, savedUsdLeast, savedUsdMost } = report.arms[0]!.measures
      assert.equal([savedTokens.value, savedUsdLeast.value, savedUsdMost.value], [savings.tokens, low, high])
      assert.match(terminalReport(report), new RegExp(`saved +${savings.tokens.toLocaleString('en-US')} `))
      assert.ok(savedWords(savings).startsWith(`${savings.tokens.toLocaleString('en-US')} tokens (`))
    },
  )

  it('notes by what each reply was paid, and the window where it is not the usual one', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const noted = async (options: object): Promise<unknown> => {
      const model = policyModel(() => 'Read.', { id: 'lab:reader' })
      const agent = await runtime.spawn(defineAgent({ name: 'reader', model, ...options }))
      let seen: unknown
      agent.subscribe((event) => {
        if (event.type === 'reply.end') seen = [event.window, event.prices]
      })
      await agent.prompt('Read.').result
      return seen
    }
    assert.equal(await noted({}), [undefined, undefined])
    assert.equal(await noted({ pricing, compaction: { contextWindow: 40_000 } }), [40_000, pricing])
    assert.equal(await noted({ pricing: { 'lab:reader': pricing, 'lab:other': { input: 1, output: 1 } } }), [
      undefined,
      pricing,
    ])
    assert.equal(await noted({ pricing: { 'lab:other': pricing }, compaction: false }), [undefined, undefined])
  })
})
