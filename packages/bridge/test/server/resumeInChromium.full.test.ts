import { fileURLToPath } from 'node:url'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { bundleForPage } from '../../../../test/browser/bundleForPage.ts'
import { checkProblems, describeInChromium, serverGone } from '../../../../test/browser/chromium.ts'
import { servePage } from '../../../../test/browser/servePage.ts'
import { assert } from '../../../../test/support/suite.ts'
import { Dice } from '../../../../test/tree/dice.ts'
import { startCutter } from './cutter.ts'
import { checkHeard, checkOnce, checkResult, checkTexts, type Given } from './resume/resumeChecks.ts'
import { startServerProcess } from './resume/serverProcess.ts'

const entry = fileURLToPath(new URL('resume/pageEntry.ts', import.meta.url))

describeInChromium('the client in a page', (it) => {
  it('hears the log of a server that is killed and cut off under it', { timeoutMs: 90_000 }, async (context) => {
    const { page } = context
    const dice = new Dice(1)
    const origin = await servePage(context, await bundleForPage(entry))
    const server = await startServerProcess(context, origin)
    const wire = await startCutter(context, Number(URL.parse(server.url)!.port))
    const until = (holds: string): Promise<unknown> => page.waitForFunction(holds, undefined, { polling: 10 })
    await page.goto(origin)
    await page.evaluate(`driven.start('${wire.url}')`)
    const given: Given[] = [{ kind: 'prompt', text: 'prompt 0, 200 turns', outcome: 'done' }]
    const runId = await page.evaluate<string>(`driven.prompt('${given[0]!.text}')`)
    for (let death = 1; death <= 4; death += 1) {
      const next = Number(await page.evaluate('driven.events.length')) + dice.int(50, 400)
      await until(`driven.events.length >= ${next} || driven.results.length === 1`)
      given.push({ kind: 'steer', text: `steer ${death}`, outcome: undefined })
      await page.evaluate(`driven.steer('steer ${death}')`)
      if (dice.percent(50)) wire.cut()
      else await server.killAndStart()
    }
    await server.killAndStart()
    await until(`driven.results.length === 1 && driven.said.length === ${given.length - 1}`)
    await page.evaluate("driven.prompt('last, 1 turns')")
    await until('driven.results.length === 2')
    const records = await server.log('a1')
    await until(`driven.events.at(-1)?.seq >= ${records.length}`)
    const { events, results, errors, said } = JSON.parse(await page.evaluate<string>('driven.told()')) as {
      readonly events: readonly AgentEvent[]
      readonly results: readonly RunResult[]
      readonly errors: readonly string[]
      readonly said: readonly ('done' | 'refused')[]
    }
    // They are answered in the order in which they were given.
    for (const [index, outcome] of said.entries()) given[index + 1]!.outcome = outcome
    assert.equal([...errors, ...checkHeard(events, records, 'a1'), ...checkTexts(events)], [])
    assert.equal([...checkOnce(given, records), ...checkResult(runId, results[0]!, records)], [])
    assert.ok(records.filter(({ type }) => type === 'turn.start').length >= 200)
    checkProblems(context, serverGone)
  })
})
