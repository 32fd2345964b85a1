import { assert } from '../../../../../test/support/suite.ts'
import { startServerProcess } from '../../../../bridge/test/server/resume/serverProcess.ts'
import { checkProblems, describeInChromium, serverGone } from '../../../../../test/browser/chromium.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, startAgent, until } from '../inspectorHarness.ts'
import { servedPage } from '../servedPage.ts'

/** Sequence numbers in the timeline, all of them: it is scrolled through from the beginning. */
const readTimeline = `(async () => {
  const list = document.querySelector('.events')
  const seen = new Set()
  list.scrollTop = 0
  for (let before = -1; before !== list.scrollTop; ) {
    before = list.scrollTop
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (const cell of list.querySelectorAll('.event-seq')) if (cell.textContent !== '') seen.add(Number(cell.textContent))
    list.scrollTop += list.clientHeight
  }
  return [...seen]
})()`

describeInChromium('the inspector page over a server that is killed', (it) => {
  it('says so, goes on without a reload, and misses no record', { timeoutMs: 60_000 }, async (context) => {
    await servedPage()
    const server = await startServerProcess(context)
    const inspector = await openInspector(context, Number(URL.parse(server.url)!.port))
    const { page, tab } = inspector
    // More turns than it will take: a fast server is not done before a slow page has seen it die twice.
    await startAgent(inspector, 'looking', { id: 'l1', prompt: 'first, 50000 turns of 20 ms' })
    await tab('Timeline').click()
    await inspector.button('Log').click()
    await page.evaluate('globalThis.isTheSame = true')
    const banner = page.getByText('Connection lost.')
    for (let death = 1; death <= 2; death += 1) {
      const known = Number(await page.evaluate(lastSeq))
      await until(page, `${lastSeq} > ${known + 20}`)
      await server.kill()
      await banner.waitFor()
      // What was seen stays, and nothing can be done meanwhile.
      assert.ok(Number(await page.evaluate(lastSeq)) > known)
      assert.is(await inspector.prompt.isEditable(), false)
      if (death === 1) assert.equal(await axeViolations(page), [])
      await server.start()
      await banner.waitFor({ state: 'detached' })
    }
    // The agent was woken from its log by who speaks to it, and goes on until it is aborted.
    await until(page, `${lastSeq} > ${Number(await page.evaluate(lastSeq)) + 20}`)
    await inspector.button('Abort').click()
    await inspector.isIn('idle')
    const records = await server.log('l1')
    await until(page, `${lastSeq} === ${records.length}`)
    const seen = await page.evaluate<number[]>(readTimeline)
    assert.equal(
      seen.toSorted((a, b) => a - b),
      records.map(({ seq }) => seq),
    )
    assert.is(await page.evaluate('globalThis.isTheSame'), true)
    // So does what was asked for at that moment.
    checkProblems(context, serverGone)
  })
})

/** The newest record in view: the timeline follows. */
const lastSeq = `Math.max(0, ...[...document.querySelectorAll('.event-seq')].map((cell) => Number(cell.textContent)))`
