import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import { checkProblems, describeInChromium, serverGone } from '../../../../../test/browser/chromium.ts'
import { startServerProcess } from '../../../../bridge/test/server/resume/serverProcess.ts'
import { lastingStore } from '../../../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../../../stores/test/storeFolder.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector, startAgent, textIn, until } from '../inspectorHarness.ts'
import { servedPage } from '../servedPage.ts'

const echo = defineAgent({
  captureTurnRequests: true,
  name: 'echo',
  model: policyModel(({ messages }) => `You said: ${textOf(messages.at(-1)?.content ?? [])}`),
})

const elements = `document.querySelectorAll('*').length`

describeInChromium('the page with ten thousand agents', (it) => {
  it('draws only those in view, wherever a person goes', { timeoutMs: 120_000 }, async (context) => {
    const { runtime, server } = await serveInspector(context, [echo])
    for (let from = 0; from < 10_000; from += 500)
      await Promise.all(Array.from({ length: 500 }, (_, index) => runtime.spawn(echo, { id: `echo-${from + index}` })))
    const { page } = await openInspector(context, server.port)
    await page.getByRole('button', { name: /^10,000 idle/ }).waitFor()
    const most = async (where: string): Promise<void> => {
      const count = Number(await page.evaluate(elements))
      assert.ok(count < 2_500, `${count} elements ${where}`)
    }
    await most('at first')
    for (const list of ['#overview', '#agents']) {
      await page.locator(list).focus()
      await page.keyboard.press('End')
      await until(page, `document.querySelector('${list}').scrollTop > 100_000`)
      await most(`at the end of ${list}`)
      const id = await page.locator(list).getAttribute('aria-activedescendant')
      await page.locator(`[id="${id}"]`).waitFor()
      await page.keyboard.press('Home')
      await until(page, `document.querySelector('${list}').scrollTop === 0`)
    }
    await page.locator('#filter').fill('echo-7777')
    await until(page, `document.querySelectorAll('.home-row').length === 1`)
    await page.getByRole('searchbox', { name: 'Filter the list' }).fill('echo-999')
    await until(page, `document.querySelectorAll('.agent-row').length === 12`)
    await page.locator('#overview').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('main', { name: 'Agent echo-7777' }).waitFor()
    await most('at an agent')
    // One of them works, and the page follows.
    await (await runtime.open('echo-42', echo)).prompt('hello').result
    await page.keyboard.press('0')
    await page.locator('#filter').fill('hello')
    await page.getByRole('row', { name: /hello/ }).waitFor()
    checkProblems(context)
  })
})

describeInChromium('the page with logs that are not as they should be', (it) => {
  it('says that a log is damaged, and shows the others', { timeoutMs: 60_000 }, async (context) => {
    const folder = await storeFolder(context)
    const { server, runtime } = await serveInspector(context, [echo], { runtime: { store: folder.store() } })
    for (const id of ['good', 'bad']) {
      const agent = await runtime.spawn(echo, { id })
      await agent.prompt(`I am ${id}`).result
      await agent.close()
    }
    const log = folder.file('bad.jsonl')
    const lines = (await readFile(log, 'utf8')).split('\n')
    await writeFile(log, lines.with(3, `${lines[3]!.slice(0, 20)}#${lines[3]!.slice(21)}`).join('\n'))
    const inspector = await openInspector(context, server.port, { hash: '#agent=bad' })
    await inspector.sees('This log is damaged')
    await inspector.sees('LOG_CORRUPT')
    for (const view of ['Chart', 'Timeline', 'Requests', 'Context', 'Conversation']) {
      await inspector.tab(view).click()
      await inspector.sees('LOG_CORRUPT')
    }
    await inspector.page.locator('.sidebar').getByRole('treeitem', { name: /good/ }).click()
    await inspector.sees('You said: I am good')
    checkProblems(context, /status of (4|5)\d\d/)
  })

  it('shows no time below zero where the clock was put back an hour', { timeoutMs: 60_000 }, async (context) => {
    let back = 0
    const clock = { ...systemClock, now: () => systemClock.now() - back }
    const { server, runtime } = await serveInspector(context, [echo], { runtime: { clock } })
    const agent = await runtime.spawn(echo, { id: 'e1' })
    await agent.prompt('before').result
    agent.subscribe(({ type }) => {
      if (type === 'turn.start') back = 3_600_000
    })
    await agent.prompt('in the middle').result
    await agent.prompt('after').result
    const other = await runtime.spawn(echo, { id: 'e2' })
    await other.prompt('later').result
    const inspector = await openInspector(context, server.port, { hash: '#agent=e1' })
    const { page } = inspector
    await inspector.sees('You said: after')
    const texts = await textIn(page.locator('.conversation-scroll'))
    const order = ['before', 'in the middle', 'after'].map((text) => texts.indexOf(`You said: ${text}`))
    assert.equal(
      order,
      order.toSorted((a, b) => a - b),
    )
    const places = [
      ['#', '.home-row'],
      ['#agent=e1&node=n4', '.conversation-row.is-selected'],
      ['#agent=e1&view=requests', '.request-message'],
      ['#agent=e1&view=context', '.context'],
      ['#agent=e1&view=timeline&as=log', '.event-row'],
      ['#agent=e1&view=timeline', '.bar-row'],
    ] as const
    for (const [hash, landmark] of places) {
      await page.evaluate(`location.hash = '${hash}'`)
      await page.locator(landmark).first().waitFor()
      const said = await page.evaluate<string>('document.body.innerText')
      assert.not.match(said, /NaN|Infinity|[-−]\d+(\.\d+)? ?(ms|s|min|h)\b/, hash)
    }
    const out = await page.evaluate<string[]>(`[...document.querySelectorAll('.bar-row *')].filter((element) => {
      const { left, right, width } = element.getBoundingClientRect()
      const row = element.closest('.bar-row').getBoundingClientRect()
      return width > 0 && (left < row.left - 1 || right > row.right + 1)
    }).map((element) => element.className)`)
    assert.equal(out, [])
    checkProblems(context)
  })

  it('shows a log whose times are none', { timeoutMs: 60_000 }, async (context) => {
    let isOdd = true
    const clock = { ...systemClock, now: () => (isOdd ? 9e15 : systemClock.now()) }
    const { server, runtime } = await serveInspector(context, [echo], { runtime: { clock } })
    const agent = await runtime.spawn(echo, { id: 'e1' })
    await agent.prompt('far away').result
    // One more is at rest, with the others of the list.
    const left = await runtime.spawn(echo, { id: 'e0' })
    await left.prompt('far away').result
    await left.close()
    isOdd = false
    await (await runtime.spawn(echo, { id: 'e2' })).prompt('now').result

    const { page } = await openInspector(context, server.port, { hash: '#agent=e1' })
    for (const [hash, landmark] of [
      ['', '.home-row'],
      ['#agent=e1&node=n1', '.conversation-row.is-selected'],
      ['#agent=e1&view=timeline', '.bar-row'],
      ['#agent=e1&view=timeline&as=log', '.event-row'],
      ['#agent=e1&view=context', '.context'],
      ['#agent=e2', '.conversation-row'],
    ] as const) {
      await page.evaluate(`location.hash = '${hash}'`)
      await page.locator(landmark).first().waitFor()
    }
    await page.locator('.sidebar').getByRole('treeitem', { name: /e0/ }).waitFor()
    await page.goBack()
    await page.goBack()
    await page.locator('.event-row').last().click()
    await page.locator('.details .tree').waitFor()
    checkProblems(context)
  })

  it(
    'keeps what it shows of a session that is deleted, and says so at the next question',
    { timeoutMs: 60_000 },
    async (context) => {
      const store = lastingStore()
      const { server, runtime } = await serveInspector(context, [echo], { runtime: { store } })
      for (const id of ['kept', 'gone']) {
        const agent = await runtime.spawn(echo, { id })
        await agent.prompt(`I am ${id}`).result
        await agent.close()
      }
      const inspector = await openInspector(context, server.port, { hash: '#agent=gone&view=timeline&as=log' })
      const { page } = inspector
      await page.getByRole('option').filter({ hasText: 'agent.created' }).waitFor()
      await store.delete('gone')
      await inspector.tab('Conversation').click()
      await inspector.sees('You said: I am gone')
      await inspector.say('hello')
      await page.getByRole('alert').getByText(/gone/).first().waitFor()
      await inspector.goto('#agent=gone')
      await inspector.sees('Agent not found')
      await page.keyboard.press('0')
      await page.getByRole('row', { name: /I am kept/ }).waitFor()
      await page.getByRole('row', { name: /I am gone/ }).waitFor({ state: 'detached' })
      checkProblems(context, /status of 404/)
    },
  )
})

describeInChromium('the page over a server that is killed while braked sub-agents wait', (it) => {
  it('shows all that waited after the next start, and decides it', { timeoutMs: 90_000 }, async (context) => {
    await servedPage()
    const server = await startServerProcess(
      context,
      undefined,
      fileURLToPath(new URL('../brakedChild.ts', import.meta.url)),
    )
    const inspector = await openInspector(context, Number(URL.parse(server.url)!.port))
    const { page } = inspector
    await startAgent(inspector, 'boss', { id: 'boss', prompt: 'Deploy' })
    await inspector.sees('2 decisions waiting')
    const before = await Promise.all(['boss', 'boss.1', 'boss.2'].map((id) => server.log(id)))
    await server.kill()
    await page.getByText('Connection lost.').waitFor()
    await server.start()
    await page.getByText('Connection lost.').waitFor({ state: 'detached' })
    await inspector.sees('2 decisions waiting')
    for (const id of ['boss.1', 'boss.2']) {
      await page.evaluate(`location.hash = '#agent=${id}'`)
      await inspector.sees('There is nothing to be seen.')
    }
    await page.evaluate(`location.hash = '#agent=boss'`)
    await inspector.button(/^Approve all/).click()
    await inspector.sees('All is done.')
    const after = await Promise.all(['boss', 'boss.1', 'boss.2'].map((id) => server.log(id)))
    after.forEach((records, index) => assert.equal(records.slice(0, before[index]!.length), before[index]))
    checkProblems(context, serverGone)
  })
})

const odd = {
  long: 'W'.repeat(1_000),
  'right to left': 'مرحبا: أصلح \u202Eהבדיקה\u202C (1)',
  combining: `e${'\u0301'.repeat(60)}tude`,
} as const

/** Elements that are wider than the page, or reach out of it. */
const outside = `[...document.querySelectorAll('.page > *, .columns > *, .agent > *, .agent-header > *, .panel > *, .search-bar > *, dialog[open]')]
  .filter((element) => element.getClientRects().length > 0 && !element.matches('.hidden, .hidden *'))
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 || document.documentElement.scrollWidth > innerWidth)
  .map((element) => element.className || element.tagName)`

describeInChromium('the page with names that nobody thinks of', (it) => {
  for (const width of [375, 1024])
    it(`fits ${width} px in every view`, { timeoutMs: 60_000, viewport: { width, height: 800 } }, async (context) => {
      const { server, runtime } = await serveInspector(context, [echo])
      const ids = Object.keys(odd).map((name) => name.replaceAll(' ', '-'))
      for (const [index, text] of Object.values(odd).entries()) {
        const agent = await runtime.spawn(echo, {
          id: ids[index]!,
          metadata: { about: text.slice(0, 200) },
        })
        await agent.prompt(text).result
      }
      const inspector = await openInspector(context, server.port, { hash: '#agent=long' })
      const { page } = inspector
      const faults: string[] = []
      for (const id of ids)
        for (const [view, landmark] of [
          ['conversation', '.conversation-row'],
          ['chart', '.chart-box'],
          ['timeline', '.bar-row'],
          ['timeline&as=log', '.event-row'],
          ['requests', '.request-message'],
          ['context', '.context'],
          ['conversation&q=e', '.search-found, .search-count'],
        ] as const) {
          await page.evaluate(`location.hash = '#agent=${id}&view=${view}'`)
          await page.getByRole('main', { name: `Agent ${id}` }).waitFor()
          await page.locator(landmark).first().waitFor({ state: 'attached' })
          const wide = await page.evaluate<string[]>(outside)
          if (wide.length > 0) faults.push(`${id} ${view}: ${wide.join(', ')}`)
        }
      assert.equal(faults, [])
      checkProblems(context)
    })
})
