import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import type { Report } from '../src/report/report.ts'
import { reportOf } from '../src/report/reportOf.ts'
import { writeReport } from '../src/report/writeReport.ts'
import { checkProblems, describeInChromium, type PageContext } from '../../../test/browser/chromium.ts'
import { axeViolations } from '../../page/test/inspector/axe.ts'
import { assert } from '../../../test/support/suite.ts'
import { madeUp, madeUpHeader, madeUpResult } from './madeUp.ts'

const arms = ['off', 'stall+revert', 'model=anthropic:claude-with-a-rather-long-name-4-5']

function example(): Report {
  const { header, results } = madeUp({
    tasks: 12,
    trials: 3,
    arms,
    seed: 5,
    skill: (task, arm) => ({ passes: arm === 1 ? 0.9 : (task % 4) / 4, costs: arm === 2 ? 0.04 : 0.02 }),
  })
  const changed = results.map((result) =>
    result.task === 'task-3' && result.arm === 'off' && result.trial === 1
      ? madeUpResult('task-3', 'off', 1, {
          outcome: 'error',
          error: { code: 'MODEL_NETWORK', message: 'It was reset.' },
        })
      : result,
  )
  const first = header.tasks.map((task, index) => (index === 1 ? { ...task, passesWithoutWork: true as const } : task))
  return reportOf({ ...header, tasks: first, judge: 'lab:judge' }, changed.slice(0, -1), {
    stopped: { why: 'budget' },
    judged: { both: 8, onlyJudge: 1, onlyPeople: 1, neither: 6 },
  })
}

/** Writes the page of a report, and opens it from the disk. */
async function openReport(
  { cleanup }: Pick<PageContext, 'cleanup'>,
  page: Page,
  report: Report,
  hash = '',
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'report-page-'))
  cleanup(() => rm(folder, { recursive: true }))
  await writeReport(folder, report, {
    sessions: (_folder, agentIds) => Promise.resolve({ page: 'session.html', agentIds: agentIds.slice(1) }),
  })
  await page.goto(`${pathToFileURL(join(folder, 'report', 'index.html')).href}${hash}`)
}

const names = (page: Page): Promise<string[]> => page.locator('#table tbody th').allInnerTexts()

describeInChromium('the page of a report', (it) => {
  it(
    'is clean for axe, and no wider than it may be, at three widths in both schemes, with a trial open too',
    { timeoutMs: 90_000 },
    async (context) => {
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [375, 1024, 1440]) {
          const opened = await context.open({ viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' })
          const { page } = opened
          await openReport(context, page, example())
          await page.locator('.all-k summary').click()
          assert.equal(await axeViolations(page), [], `${colorScheme} ${width}`)
          assert.is(await page.evaluate('document.documentElement.scrollWidth'), width)
          await page.locator('.mark.failed').first().click()
          assert.equal(await axeViolations(page), [], `${colorScheme} ${width}, with a trial`)
          checkProblems(opened)
        }
    },
  )

  it('says verdicts and figures in words beside their pictures, and what to read first', {}, async (context) => {
    const report = example()
    await openReport(context, context.page, report)
    const text = (await context.page.locator('body').innerText()).replaceAll(/\s+/g, ' ')
    for (const said of [
      'Passes more',
      'Costs more',
      'Read this first',
      '1 of 108 trials are missing',
      'MODEL_NETWORK 1',
      'pass@1',
      'pass^3',
    ])
      assert.ok(text.includes(said), said)
    const dots = await context.page.locator('.chart .dot').count()
    assert.ok(dots >= 3 * 5, String(dots))
    const [first] = await context.page.locator('.chart').nth(2).locator('li').allInnerTexts()
    assert.match(first!, /^off\n+\d+ %\s+\d+ % to \d+ %$/)
    checkProblems(context)
  })

  it('sorts tasks by an arm, either way, and finds them by name, tag and outcome', {}, async (context) => {
    const { page } = context
    const report = example()
    await openReport(context, page, report)
    assert.is((await names(page)).length, 12)
    const share = (index: number, arm: number): number => report.tasks[index]!.cells[arm]!.share.value ?? -1
    const places = async (): Promise<number[]> => (await names(page)).map((name) => Number(/\d+/.exec(name)![0]) - 1)
    const head = page.getByRole('columnheader', { name: 'off' })
    await head.getByRole('button').click()
    assert.is(await head.getAttribute('aria-sort'), 'ascending')
    const up = (await places()).map((index) => share(index, 0))
    assert.equal(
      up,
      up.toSorted((a, b) => a - b),
    )
    await head.getByRole('button').click()
    assert.is(await head.getAttribute('aria-sort'), 'descending')
    assert.equal(
      (await places()).map((index) => share(index, 0)),
      up.toReversed(),
    )

    await page.getByLabel('Find').fill('task-1')
    assert.equal((await names(page)).map((name) => /task-\d+/.exec(name)![0]).toSorted(), [
      'task-1',
      'task-10',
      'task-11',
      'task-12',
    ])
    await page.getByLabel('Tag').selectOption('even')
    assert.is(await page.locator('#count').innerText(), '2 of 12 tasks')
    await page.getByLabel('Find').fill('')
    await page.getByLabel('Show').selectOption('errors')
    assert.equal(
      (await names(page)).map((name) => name.trim().split(/\s/)[0]),
      ['task-3'],
    )
    await page.getByLabel('Find').fill('nothing of the kind')
    assert.is(await page.locator('#count').innerText(), '0 of 12 tasks')
    checkProblems(context)
  })

  it(
    'opens a trial with its checks, metrics, answer and error, goes on to the next by keys, and has its own address',
    {},
    async (context) => {
      const { page } = context
      await openReport(context, page, example())
      const mark = page.getByRole('button', { name: 'task-3, off, trial 2: error' })
      await mark.focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: /task-3/ })
      assert.match(await dialog.innerText(), /MODEL_NETWORK: It was reset\./)
      const address = page.url()
      assert.match(address, /#trial=2&task=task-3&arm=off$/)
      await dialog.getByRole('button', { name: 'Next' }).press('Enter')
      await page.getByText('off, trial 3').waitFor()
      // The button that is pressed again and again stays where the focus is.
      assert.is(await page.evaluate('document.activeElement.textContent'), 'Next')
      assert.match(await dialog.innerText(), /largest request/)
      assert.is(await dialog.getByRole('link').getAttribute('href'), 'session.html#agent=task-3.off.2')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await page.locator('button:focus[aria-label^="task-3, off, trial 3: "]').waitFor()
      assert.not.match(page.url(), /#/)

      const other = await context.open()
      await other.page.goto(address)
      await other.page.getByRole('dialog', { name: /task-3/ }).waitFor()
      checkProblems(context)
      checkProblems(other)
    },
  )

  it('links to no session that it does not have', {}, async (context) => {
    const { page } = context
    await openReport(context, page, example(), '#trial=1&task=task-1&arm=off')
    const dialog = page.getByRole('dialog', { name: /task-1/ })
    await dialog.getByText('largest request').waitFor()
    assert.is(await dialog.getByRole('link').count(), 0)
  })

  it('shows what agents and suites say as text, whatever it is', {}, async (context) => {
    const { page } = context
    const evil = `</script><script>document.title = 'taken'</script><img src=x onerror="document.title='taken'">`
    const header = madeUpHeader(1, ['off'], 1)
    const report = reportOf(
      { ...header, suite: { ...header.suite, name: evil }, tasks: [{ id: evil, tags: [evil] }] },
      [
        madeUpResult(evil, 'off', 0, {
          outcome: 'failed',
          answer: evil,
          scores: [{ name: evil, value: 0, passed: false, required: true, weight: 1, reason: evil }],
        }),
      ],
    )
    await openReport(context, page, report)
    assert.is(await page.title(), `${evil} · evaluation`)
    await page.locator('.mark').click()
    assert.ok((await page.getByRole('dialog').innerText()).includes(evil))
    assert.is(await page.locator('img').count(), 0)
    checkProblems(context)
  })

  it(
    'shows the first of very many tasks at once, and the others when they are asked for',
    { timeoutMs: 60_000 },
    async (context) => {
      const { page } = context
      const { header, results } = madeUp({
        tasks: 250,
        trials: 2,
        arms: ['off', 'on'],
        seed: 1,
        skill: () => ({ passes: 0.5, costs: 0.01 }),
      })
      await openReport(context, page, reportOf(header, results))
      assert.is((await names(page)).length, 100)
      const more = page.getByRole('button', { name: /^Show \d+ more of \d+$/ })
      assert.is(await more.innerText(), 'Show 100 more of 150')
      await more.click()
      await more.click()
      assert.is((await names(page)).length, 250)
      assert.is(await more.count(), 0)
      // Details of a late trial are in a block of their own.
      await page.getByRole('button', { name: /^task-250, on, trial 2:/ }).click()
      await page
        .getByRole('dialog', { name: /task-250/ })
        .getByText('largest request')
        .waitFor()
    },
  )

  it('says so where nothing was evaluated', {}, async (context) => {
    await openReport(context, context.page, reportOf(madeUpHeader(0, ['off'], 1), []))
    assert.is(await context.page.locator('#count').innerText(), '0 tasks')
    checkProblems(context)
  })
})
