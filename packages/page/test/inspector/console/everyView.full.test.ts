import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { simulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { byTurns, wantsAll } from '../../../../../test/support/seeds.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { openInspector, serveInspector, until, type OpenInspector } from '../inspectorHarness.ts'
import { picture } from './pictures.ts'
import { serveScene } from './scene.ts'

/** A place of the console: its address, what is there once it is drawn, and what is done first. */
interface Place {
  readonly name: string
  readonly hash: string
  readonly landmark: string
  readonly reach?: (inspector: OpenInspector) => Promise<unknown>
}

/** Shows the details where they do not lie beside the agent. */
const openDetails = async (inspector: OpenInspector): Promise<void> => {
  await openDetailsTab(inspector)
  const button = inspector.page.getByRole('button', { name: 'Details', exact: true })
  if (await button.isVisible()) await button.click()
}

/** Opens the details: a choice opens the drawer of a middling page by itself, the tab of a narrow one it does not. */
const openDetailsTab = async ({ page }: OpenInspector): Promise<void> => {
  const tab = page.getByRole('tab', { name: 'Details' })
  if (await tab.isVisible()) await tab.click()
}

const item =
  (name: string) =>
  (inspector: OpenInspector): Promise<void> =>
    inspector.choose(name)

const places: readonly Place[] = [
  { name: 'overview', hash: '', landmark: '.home-row' },
  { name: 'overview filtered', hash: '#show=waiting,failed', landmark: '.home-row' },
  {
    name: 'agents',
    hash: '#agent=digger',
    landmark: '.sidebar [role="treeitem"], .sidebar [role="row"], .sidebar [role="option"]',
    reach: async ({ page }) => {
      const agents = page.getByRole('tab', { name: 'Agents' })
      if (await agents.isVisible()) await agents.click()
    },
  },
  { name: 'conversation that waits', hash: '#agent=lead', landmark: '.conversation-row' },
  { name: 'conversation with a dead branch', hash: '#agent=digger', landmark: '.conversation-row' },
  { name: 'conversation with folds', hash: '#agent=archivist', landmark: '.conversation-row' },
  { name: 'conversation in markdown', hash: '#agent=writer', landmark: '.conversation-row' },
  { name: 'conversation that failed', hash: '#agent=summariser-q3', landmark: '.conversation-row' },
  { name: 'conversation from right to left', hash: '#agent=rtl', landmark: '.conversation-row' },
  { name: 'conversation with a long name', hash: '#agent=long', landmark: '.conversation-row' },
  { name: 'conversation with artifacts', hash: '#agent=clerk', landmark: '.conversation-row' },
  { name: 'chart', hash: '#agent=digger&view=chart', landmark: '.chart-box' },
  { name: 'chart of a tree', hash: '#agent=lead&view=chart', landmark: '.chart-box' },
  { name: 'timeline', hash: '#agent=digger&view=timeline', landmark: '.bar-row' },
  { name: 'timeline of a tree', hash: '#agent=lead&view=timeline', landmark: '.bar-row' },
  { name: 'log', hash: '#agent=digger&view=timeline&as=log', landmark: '.event-row' },
  { name: 'requests', hash: '#agent=digger&view=requests', landmark: '.request-message' },
  { name: 'context', hash: '#agent=archivist&view=context', landmark: '.panel h2, .panel h3' },
  { name: 'context of sources', hash: '#agent=clerk&view=context', landmark: '.panel h2, .panel h3' },
  { name: 'past', hash: '#agent=digger&at=60', landmark: '.conversation-row' },
  { name: 'usage', hash: '#agent=archivist', landmark: '.details h2, .details h3', reach: openDetails },
  {
    name: 'details of a call',
    hash: '#agent=digger&node=n3',
    landmark: '.details h2, .details h3',
    reach: openDetailsTab,
  },
  { name: 'details of sources', hash: '#agent=clerk', landmark: '.details h2, .details h3', reach: openDetails },
  { name: 'keys', hash: '', landmark: 'dialog[open]', reach: ({ page }) => page.keyboard.press('?') },
  {
    name: 'start an agent',
    hash: '#agent=digger',
    landmark: 'dialog[open]',
    reach: async ({ page }) => {
      // Where the focus is in the overview, the key is about the row that is chosen.
      await page.evaluate('document.activeElement.blur()')
      await page.keyboard.press('n')
    },
  },
  { name: 'menu', hash: '#agent=digger', landmark: '[role="menu"]', reach: ({ button }) => button('More').click() },
  { name: 'compact', hash: '#agent=digger', landmark: 'dialog[open]', reach: item('Compact the conversation') },
  { name: 'comparison', hash: '#agent=digger&with=archivist', landmark: '.compare-pair' },
  { name: 'comparison with a deleted session', hash: '#agent=digger&with=gone', landmark: '.empty' },
  { name: 'ask a policy', hash: '#agent=archivist', landmark: 'dialog[open]', reach: item('Ask a policy') },
  { name: 'compare with', hash: '#agent=digger', landmark: 'dialog[open]', reach: item('Compare with…') },
  { name: 'fork', hash: '#agent=digger', landmark: 'dialog[open]', reach: ({ page }) => page.keyboard.press('f') },
  { name: 'export', hash: '#agent=digger', landmark: 'dialog[open]', reach: item('Export…') },
  { name: 'stop', hash: '#agent=lead', landmark: 'dialog[open]', reach: item('Stop the agent') },
  { name: 'read-only link', hash: '#agent=lead', landmark: 'dialog[open]', reach: item('Create a read-only link') },
  { name: 'no such agent', hash: '#agent=nobody', landmark: '.empty' },
  { name: 'search of a tree', hash: '#agent=lead&q=okapi+agent:*', landmark: '.search-count' },
  { name: 'question', hash: '#agent=lead.4.1', landmark: 'article[aria-label$="asks a question"]' },
  {
    name: 'hide a step',
    hash: '#agent=digger&node=n80',
    landmark: 'dialog[open]',
    reach: async (inspector) => {
      await openDetailsTab(inspector)
      await inspector.button('Hide n80').click()
    },
  },
  {
    name: 'revert',
    hash: '#agent=editor&node=n1',
    landmark: 'dialog[open]',
    reach: async (inspector) => {
      await openDetailsTab(inspector)
      await inspector.button('Revert to n1').click()
    },
  },
]

/** Elements that are wider than the page, or reach out of it below, except where a short window scrolls them into sight. */
const outside = `[...document.querySelectorAll('body, body > *, .page > *, .columns > *, .agent > *, .agent-title, .header-actions, .panel, dialog[open]')]
  .filter((element) => element.getClientRects().length > 0 && !element.matches('.hidden, .hidden *'))
  .filter((element) => {
    const { left, right, bottom } = element.getBoundingClientRect()
    const agent = element.closest('.agent')
    const isReached = agent !== null && getComputedStyle(agent).overflowY === 'auto' && agent.scrollHeight > agent.clientHeight
    const fits = right <= innerWidth + 1 && left >= -1 && (bottom <= innerHeight + 1 || isReached)
    return !fits || document.documentElement.scrollWidth > innerWidth
  })
  .map((element) => element.className || element.tagName)`

/** Badges of the header that are crushed so that nothing of them can be read. */
const crushed = `[...document.querySelectorAll('.agent-title .badge')]
  .filter((badge) => badge.getClientRects().length > 0 && badge.getBoundingClientRect().width < 40)
  .map((badge) => badge.textContent)`

/** Place at an address: the overview, or an agent in one of its views. */
function shownAt(hash: string): string {
  const address = new URLSearchParams(hash.slice(1))
  const agent = address.get('agent')
  if (agent === null) return 'main.home'
  return `main[aria-label="Agent ${agent}"] #view[aria-labelledby="view-${address.get('view') ?? 'conversation'}"]`
}

/** True if the Escape key leaves it; everything else that is opened stays when the address changes. */
const isClosable = ({ landmark }: Place): boolean => landmark === 'dialog[open]' || landmark === '[role="menu"]'

/** True if an opened part is still there at the next address: the page is loaded anew before it. */
const stays = (place: Place): boolean => place.reach !== undefined && !isClosable(place)
/** Those that stay come last, so that most are reached as a person reaches them: from another one. */
const inOrder = [...places.filter((place) => !stays(place)), ...places.filter(stays)]

const schemes = ['light', 'dark'] as const

describeInChromium('every view of the console', (it) => {
  for (const [turn, [width, height]] of (
    [
      [375, 812],
      [1024, 768],
      [1440, 900],
      // Twice as large in a window of 1,440 by 900.
      [720, 450],
      [960, 540],
    ] as const
  ).entries()) {
    const look = { viewport: { width, height }, colorScheme: 'light', reducedMotion: 'reduce' } as const
    it(`fits ${width} by ${height} px, and axe finds nothing`, { timeoutMs: 240_000, ...look }, async (context) => {
      const { server } = await serveScene(context, { agents: 20 })
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      const faults: string[] = []
      const judged = new Set<string>()
      // For every day each place is looked at in one width and one scheme.
      for (const [index, place] of byTurns(inOrder, turn).entries()) {
        const { name, hash, landmark, reach } = place
        const found = async (): Promise<void> => {
          if (stays(place)) await inspector.goto(hash)
          else await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
          await page.locator(shownAt(hash)).waitFor()
          await reach?.(inspector)
          await page.locator(landmark).first().waitFor()
        }
        const isFound = await found().then(
          () => true,
          (error: unknown) => void faults.push(`${name}: ${String(error).split('\n')[0]}`),
        )
        for (const colorScheme of wantsAll ? schemes : [schemes[index % 2]!]) {
          await page.emulateMedia({ colorScheme })
          // Colours on their way to others have contrasts of their own.
          await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
          await picture(page, `${name} ${width} ${colorScheme}`)
          if (isFound !== true) continue
          // The list of agents is the same beside each view of an agent; it is looked at beside one, and where it is what is looked at.
          const besides = name !== 'agents' && hash.startsWith('#agent=') ? 'an agent' : name
          const except = !wantsAll && judged.has(`${besides} ${colorScheme}`) ? ['.sidebar'] : []
          judged.add(`${besides} ${colorScheme}`)
          const violations = await axeViolations(page, except)
          faults.push(...violations.map((fault) => `${name} in ${colorScheme}: ${fault}`))
        }
        if (isFound !== true) continue
        const wide = await page.evaluate<string[]>(outside)
        if (wide.length > 0) faults.push(`${name}: outside of the page are ${wide.join(', ')}`)
        const small = await page.evaluate<string[]>(crushed)
        if (small.length > 0) faults.push(`${name}: crushed are ${small.join(', ')}`)
        if (!isClosable(place)) continue
        await page.keyboard.press('Escape')
        await page.locator(landmark).waitFor({ state: 'detached' })
      }
      assert.equal(faults, [])
      // Of the agent that there is not.
      checkProblems(inspector, /404/)
    })
  }
})

const token = 'admin-token-0123456789'

describeInChromium('the console for who is shut out', (it) => {
  for (const width of [375, 1440]) {
    const look = { viewport: { width, height: 800 }, colorScheme: 'dark', reducedMotion: 'reduce' } as const
    it(`fits ${width} px, and axe finds nothing`, { timeoutMs: 60_000, ...look }, async (context) => {
      const clock = simulatedClock()
      const echo = defineAgent({ name: 'echo', model: policyModel(() => 'I was asked.') })
      const options = { tokens: { [token]: 'admin' }, runtime: { clock } } as const
      const { server, runtime } = await serveInspector(context, [echo], options)
      await (await runtime.spawn(echo, { id: 'a1' })).prompt('Say it.').result
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      const judge = async (name: string, words: string): Promise<void> => {
        await page.getByText(words).first().waitFor()
        await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
        await picture(page, `${name} ${width} dark`)
        assert.equal(await page.evaluate(outside), [], name)
        assert.equal(await axeViolations(page), [], name)
      }
      await judge('token', 'This server requires a token')
      const { token: link } = await server.shareLink('a1', { ms: 60_000 })
      await inspector.goto(`#agent=a1&token=${link}`)
      await inspector.sees('I was asked.')
      await clock.advance(60_000)
      await judge('expired link', 'This link has expired')
      await inspector.goto(`#agent=a1&token=${token}`)
      await inspector.sees('I was asked.')
      await server.close()
      await judge('connection lost', 'Connection lost.')
    })
  }
})
