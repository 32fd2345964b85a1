import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { startFleet, type Fleet, type Worker } from '../../../../cluster/test/gateway/fleet.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { until } from '../inspectorHarness.ts'
import { servedPage } from '../servedPage.ts'

const coder = defineAgent({ name: 'coder', model: policyModel(() => 'Done.') })

const nameOf = ({ server }: Worker): string => new URL(server.url).host

/** Two workers, a gateway, one agent, and the page at the gateway. */
async function openPage(context: PageContext): Promise<{ fleet: Fleet; home: string; from: Worker; to: Worker }> {
  await servedPage()
  const fleet = await startFleet(context, [coder])
  const gateway = await fleet.startGateway()
  const agent = await fleet.connect(gateway).spawn('coder', { id: 'a1' })
  await agent.prompt('Begin.').result
  const from = fleet.workers.find(({ runtime }) => runtime.agent('a1') !== undefined)!
  const to = fleet.workers.find((worker) => worker !== from)!
  const home = gateway.url.replace(/^ws/, 'http').replace(/bridge$/, '')
  await context.page.goto(`${home}#show=idle`)
  return { fleet, home, from, to }
}

describeInChromium('workers behind the page', (it) => {
  it(
    'are counted and filter the overview, and one that dies leaves it',
    { reducedMotion: 'reduce' },
    async (context) => {
      const { page } = context
      const { fleet, from, to } = await openPage(context)
      const workers = page.getByRole('group', { name: '2 workers' })
      const busy = workers.getByRole('button', { name: `1 on ${nameOf(from)}` })
      const free = workers.getByRole('button', { name: `0 on ${nameOf(to)}` })
      const row = page.getByRole('row', { name: /^Begin\./ })
      await busy.waitFor()
      await row.getByRole('gridcell', { name: nameOf(from) }).waitFor()
      assert.match((await busy.getAttribute('title'))!, new RegExp(`process ${process.pid}\\b`))
      await free.click()
      assert.is(await free.getAttribute('aria-pressed'), 'true')
      await row.waitFor({ state: 'detached' })
      await busy.click()
      await row.waitFor()
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1280, 390]) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          assert.equal(await axeViolations(page), [], `${width} px in ${colorScheme}`)
          await until(page, `document.documentElement.scrollWidth === ${width}`)
        }
      await page.setViewportSize({ width: 1280, height: 800 })
      await from.runtime.close({ detach: true })
      await row.waitFor({ state: 'detached' })
      await busy.waitFor({ state: 'detached' })
      await page.getByRole('group', { name: '1 worker' }).waitFor()
      assert.is(fleet.workers.length, 2)
    },
  )

  it('are named in the header of an agent and beside it, also when it moves', {}, async (context) => {
    const { page } = context
    const { home, from, to } = await openPage(context)
    await page.goto(`${home}#agent=a1`)
    const header = page.locator('.agent-header')
    const item = page.getByRole('treeitem', { name: /Begin\./ })
    await header.getByText(`on ${nameOf(from)}`).waitFor()
    await item.getByText(nameOf(from)).waitFor()
    assert.equal(await axeViolations(page), [])
    await from.runtime.detach('a1')
    await to.runtime.resume('a1', coder)
    await header.getByText(`on ${nameOf(to)}`).waitFor()
    await item.getByText(nameOf(to)).waitFor()
  })

  it('are not there where the server is no gateway', {}, async (context) => {
    const { page } = context
    await servedPage()
    const fleet = await startFleet(context, [coder], 0)
    const { runtime, server } = await fleet.startWorker({ tokens: { 'a-token-that-may-everything': 'admin' } })
    for (const id of ['a1', 'a2']) await runtime.spawn(coder, { id })
    const home = server.url.replace(/^ws/, 'http').replace(/bridge$/, '')
    const asked = Promise.withResolvers<void>()
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (String(payload).includes('"workers":[]')) asked.resolve()
      }),
    )
    await page.goto(`${home}#token=a-token-that-may-everything`)
    await page.getByRole('row', { name: /^a1/ }).waitFor()
    await asked.promise
    assert.is(await page.getByRole('group', { name: /worker/ }).count(), 0)
  })
})
