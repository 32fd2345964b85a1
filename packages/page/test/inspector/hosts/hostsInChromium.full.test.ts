import { assign, createMachine, setup } from 'xstate'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { describeInChromium, type PageContext } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { agentLogic } from '../../../../xstate/src/agentLogic.ts'
import { defineHost } from '../../../../xstate/src/hosts/defineHost.ts'
import { hostMachine } from '../../../../xstate/src/hosts/hostMachine.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until } from '../inspectorHarness.ts'

const writer = defineAgent({ name: 'writer', model: policyModel(() => 'Dear customer.') })
const day = 86_400_000

/** An order in two regions, with a reminder and an agent that writes. */
const order = defineHost({
  name: 'order',
  version: '2',
  machine: (runtime) =>
    setup({
      types: {
        context: {} as { cents: number },
        events: {} as { readonly type: 'pay'; readonly cents: number } | { readonly type: 'close' },
        children: {} as { desk: 'writer' },
      },
      actors: { writer: agentLogic(runtime, writer) },
    }).createMachine({
      id: 'order',
      context: { cents: 0 },
      initial: 'open',
      on: { close: '.closed' },
      states: {
        open: {
          type: 'parallel',
          states: {
            payment: {
              initial: 'unpaid',
              states: {
                unpaid: {
                  on: { pay: { target: 'paid', actions: assign({ cents: ({ event }) => event.cents }) } },
                  after: { [day]: 'late' },
                },
                late: { on: { pay: 'paid' } },
                paid: {},
              },
            },
            letter: {
              initial: 'writing',
              states: {
                writing: {
                  invoke: { id: 'desk', src: 'writer', input: { prompt: 'Write.' }, onDone: 'written' },
                },
                written: {},
              },
            },
          },
        },
        closed: { type: 'final' },
      },
    }),
})

const door = defineHost({
  name: 'door',
  machine: createMachine({ id: 'door', initial: 'shut', states: { shut: { on: { push: 'open' } }, open: {} } }),
})

async function begin(context: PageContext, token?: string) {
  const serving = await serveInspector(context, [writer], token === undefined ? {} : { tokens: { [token]: 'talk' } })
  await serving.runtime.spawn(writer, { id: 'a1' })
  return { runtime: serving.runtime, port: serving.server.port }
}

describeInChromium('machines that a server keeps, on the page', (it) => {
  it(
    'stand on the overview, and show chart, timers, agents and events as they go',
    { reducedMotion: 'reduce' },
    async (context) => {
      const { runtime, port } = await begin(context)
      const inspector = await openInspector(context, port, { hash: '#show=idle' })
      const { page } = inspector
      await page.getByRole('row', { name: /^a1/ }).waitFor()
      assert.is(await page.getByRole('region', { name: /machine/ }).count(), 0)
      const hosted = await hostMachine(runtime, order, { id: 'order-17' })
      const group = page.getByRole('region', { name: '1 machine' })
      await inspector.sees('open.payment.unpaid and open.letter', group)
      await inspector.sees(/after 24 h 00 min in open\.payment\.unpaid in 2[34] h/, group)
      assert.equal(await axeViolations(page), [])
      // By keys alone.
      await group.getByRole('link', { name: /order-17/ }).focus()
      await page.keyboard.press('Enter')
      const main = page.getByRole('main', { name: 'Machine order-17' })
      await inspector.sees('order, version 2', main)
      assert.match(page.url(), /#host=order-17$/)
      await main.getByRole('img', { name: /^Statechart of order\. Active: open\.payment\.unpaid/ }).waitFor()
      await until(
        page,
        `document.querySelectorAll('[data-state="open.payment.unpaid"].is-itself, [data-state="open.letter.written"].is-itself').length === 2`,
      )
      await inspector.sees(/in 2[34] h/, main.getByRole('region', { name: 'Timers' }))
      const events = main.getByRole('region', { name: 'Events' }).getByRole('listitem')
      await inspector.sees('begins as order, version 2', main)
      await hosted.send({ type: 'pay', cents: 5 })
      await inspector.sees('It waits for no time.', main)
      await events.first().filter({ hasText: 'pay' }).waitFor()
      await main.getByRole('img', { name: /Active: open\.payment\.paid/ }).waitFor()
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1440, 375]) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 800 })
          assert.equal(await axeViolations(page), [], `${width} px in ${colorScheme}`)
          await until(page, `document.documentElement.scrollWidth === ${width}`)
          const folder = process.env['HOST_SHOTS']
          if (folder !== undefined) await page.screenshot({ path: `${folder}/host-${colorScheme}-${width}.png` })
        }
      await page.setViewportSize({ width: 1440, height: 800 })
      await hosted.send({ type: 'close' })
      await main.locator('.host-status').filter({ hasText: 'done' }).waitFor()
      await page.keyboard.press('0')
      await group.locator('.host-status').filter({ hasText: 'done' }).waitFor()
    },
  )

  it(
    'are on the page of a server without agents, and led to by the list once they are closed',
    { timeoutMs: 60_000 },
    async (context) => {
      const { runtime, server } = await serveInspector(context, [writer])
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      await page.getByRole('heading', { name: 'No agent yet' }).waitFor()
      const hosted = await hostMachine(runtime, door, { id: 'door-1' })
      const group = page.getByRole('region', { name: '1 machine' })
      await inspector.sees('shut', group)
      await page.getByRole('heading', { name: 'No agent yet' }).waitFor()
      assert.equal(await axeViolations(page), [])
      await group.getByRole('link', { name: /door-1/ }).click()
      const main = page.getByRole('main', { name: 'Machine door-1' })
      await inspector.sees('door', main)

      await page.keyboard.press('0')
      await hosted.close()
      await inspector.button('Reload the sessions').click()
      const item = page.getByRole('treeitem', { name: /door-1.*machine door/ })
      await item.click()
      await main.waitFor()
      assert.match(page.url(), /#host=door-1$/)
      assert.is(await item.getAttribute('aria-selected'), 'true')
      await page.keyboard.press('0')
      await page.getByRole('row', { name: /door-1.*machine door/ }).click()
      await main.waitFor()
      assert.match(page.url(), /#host=door-1$/)
    },
  )

  it('are told as missing, or as not for a token, in words', {}, async (context) => {
    const { port } = await begin(context)
    const inspector = await openInspector(context, port, { hash: '#host=none' })
    await inspector.page.getByRole('heading', { name: 'No such machine' }).waitFor()
    assert.equal(await axeViolations(inspector.page), [])
    await inspector.button('Try again').click()
    await inspector.page.getByRole('alert').getByText('no machine "none"').waitFor()
  })

  it('are not there for a token that may not see all', {}, async (context) => {
    const token = 'a-secret-of-16-chars'
    const { runtime, port } = await begin(context, token)
    await hostMachine(runtime, order, { id: 'order-17' })
    const inspector = await openInspector(context, port, { hash: `#show=idle&token=${token}` })
    const { page } = inspector
    await page.getByRole('row', { name: /^a1/ }).waitFor()
    await page.goto(`${inspector.origin}#host=order-17`)
    await page.getByRole('heading', { name: 'Not for this token' }).waitFor()
    await page.goto(`${inspector.origin}#show=idle`)
    await page.getByRole('row', { name: /^a1/ }).waitFor()
    assert.is(await page.getByRole('region', { name: /machine/ }).count(), 0)
  })
})
