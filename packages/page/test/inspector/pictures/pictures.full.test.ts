import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, until, type OpenInspector } from '../inspectorHarness.ts'
import { serveShowcase } from './showcase.ts'

/** A picture of the documentation: its address on the page, what has to be seen in it, and what is done first. */
interface Picture {
  readonly hash: string
  readonly sees: readonly (string | RegExp)[]
  readonly reach?: (inspector: OpenInspector) => Promise<unknown>
}

const pictures: Readonly<Record<string, Picture>> = {
  overview: {
    hash: '',
    sees: [/129\.9/, 'Retry 2', 'Resume', 'Write the plan for moving the sessions.'],
    reach: ({ button }) => button('Got it').click(),
  },
  conversation: {
    hash: '#agent=sorter-1',
    sees: ['Done: sort.mjs is a merge sort'],
    reach: async ({ page }) => {
      await page.locator('.conversation-row').last().hover()
      await page.mouse.wheel(0, -260)
      await until(
        page,
        `document.querySelector('.conversation-row.is-tag')?.getBoundingClientRect().bottom > document.querySelector('#view').getBoundingClientRect().top + 180`,
      )
    },
  },
  deciding: {
    hash: '#agent=lead-1',
    sees: ['2 decisions waiting'],
    reach: async (inspector) => {
      await inspector.page.locator('button', { hasText: 'Show all' }).first().click()
      await inspector.page.locator('.approval .diff').waitFor()
    },
  },
  chart: {
    hash: '#agent=watcher-1&view=chart',
    sees: [],
    reach: ({ page }) => page.locator('.chart-box.is-itself[data-state="executing"]').waitFor(),
  },
  timeline: { hash: '#agent=lead-1&view=timeline', sees: ['waits for you', 'coder · releaser'] },
  requests: {
    hash: '#agent=sorter-1&view=requests',
    sees: ['of 7'],
    reach: async (inspector) => {
      for (const turn of [6, 5]) {
        await inspector.button('Previous request').click()
        await until(inspector.page, `document.querySelector('.request-turn input').value === '${turn}'`)
      }
    },
  },
  context: { hash: '#agent=archivist-1&view=context', sees: ['Saved, net', 'without brakes'] },
  search: { hash: '#agent=lead-1&q=equal+dates+agent:*', sees: ['7 matches in 3 agents'] },
}

const folder = join(import.meta.dirname, '..', '..', '..', '..', '..', 'docs', 'pictures', 'inspector')

/** Names a folder for them: as it does `docs/pictures/inspector` when the page looks different. */
const target = process.env['PICTURES']

/** A picture of what a page shows, small enough for a document. */
async function webp(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 78 })
  await session.detach()
  return Buffer.from(data, 'base64')
}

describeInChromium('the pictures of the page in the documentation', (it) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const look = { viewport: { width: 1280, height: 800 }, colorScheme, reducedMotion: 'reduce' } as const
    it(`can be made, ${colorScheme}`, { timeoutMs: 120_000, ...look }, async (context) => {
      const { server } = await serveShowcase(context)
      const inspector = await openInspector(context, server.port)
      const { page } = inspector
      for (const [name, { hash, sees, reach }] of Object.entries(pictures)) {
        await inspector.goto(hash)
        await page.locator(hash === '' ? 'main.home' : '#view').waitFor()
        for (const text of sees) await inspector.sees(text)
        await reach?.(inspector)
        await page.mouse.move(0, 0)
        await until(page, `document.getAnimations().every(({ playState }) => playState !== 'running')`)
        const made = await webp(page)
        assert.ok(made.length < 120_000, `${name} has ${made.length} bytes`)
        if (target === undefined) continue
        await mkdir(target, { recursive: true })
        await writeFile(join(target, fileName(name, colorScheme)), made)
      }
      checkProblems(context)
    })
  }

  it('are there in both schemes, and no others', {}, async () => {
    const names = Object.keys(pictures).flatMap((name) => [fileName(name, 'light'), fileName(name, 'dark')])
    assert.equal((await readdir(folder)).toSorted(), names.toSorted())
    for (const name of names) assert.is((await readFile(join(folder, name))).toString('latin1', 8, 12), 'WEBP', name)
  })
})

const fileName = (name: string, scheme: 'light' | 'dark'): string => `${name}${scheme === 'dark' ? '-dark' : ''}.webp`
