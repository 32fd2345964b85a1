import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { inBrowser } from '../../../../scripts/inBrowser.ts'
import { checkProblems, describeInChromium } from '../../../../test/browser/chromium.ts'
import { servePage } from '../../../../test/browser/servePage.ts'
import { assert } from '../../../../test/support/suite.ts'

/** The page of this test as one module. */
async function pageCode(): Promise<string> {
  const built = (await build({
    configFile: false,
    logLevel: 'error',
    plugins: [inBrowser()],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      minify: false,
      lib: { entry: join(import.meta.dirname, 'pageEntry.ts'), formats: ['es'], fileName: 'page' },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })) as Rolldown.RolldownOutput[]
  const [chunk] = built.flatMap(({ output }) => output)
  if (chunk?.type !== 'chunk') throw new Error('the page gives no module')
  return chunk.code
}

describeInChromium('a page that runs agents', (it) => {
  it('has the sort demo, a turn at a time, with its dead end', { timeoutMs: 120_000 }, async (context) => {
    const { page } = context
    await page.goto(await servePage(context, await pageCode()))
    await page.waitForFunction('globalThis.driven !== undefined')
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) {
        await page.waitForFunction('driven.steps.isWaiting', undefined, { polling: 20, timeout: 60_000 })
        await page.evaluate('driven.steps.next()')
      }
    }
    await page.evaluate('void (driven.result = driven.prompt(2000))')
    await page.waitForFunction('driven.steps.isWaiting', undefined, { polling: 20 })
    assert.not.ok((await page.evaluate<string[]>('driven.typesOf()')).includes('reply.end'))
    // It reads the check, writes a bubble sort, runs it in vain, and reverts.
    await turns(4)
    await page.waitForFunction("driven.typesOf().includes('revert.applied')", undefined, {
      polling: 20,
      timeout: 60_000,
    })
    await page.evaluate('driven.steps.run()')
    const result = JSON.parse(await page.evaluate<string>('driven.result')) as {
      readonly text: string
      readonly stopReason: string
    }
    assert.is(result.stopReason, 'stop')
    assert.match(result.text, /^Done: sort\.mjs is a merge sort, and the check passes \(sorted in \d+ ms\)\.$/)
    checkProblems(context)
  })

  it('shows the inspector over them, and drives them there', { timeoutMs: 60_000 }, async (context) => {
    const { page } = context
    const origin = await servePage(context, await pageCode())
    await page.goto(`${origin}#agent=sort-1&view=chart`)
    await page.waitForFunction('globalThis.driven !== undefined')
    await page.evaluate('driven.steps.run(), driven.show(), undefined')
    await page.locator('#prompt').fill('Tell me a joke.')
    await page.locator('#prompt').press('Enter')
    await page.waitForFunction("driven.typesOf().includes('run.end')")
    await page.getByText('in-process').first().waitFor()
    await page.locator('.chart-box').first().waitFor({ state: 'attached' })
    checkProblems(context)
  })

  it(
    'runs programs in a worker: what they write, how they fail, and not beyond their time',
    { timeoutMs: 60_000 },
    async (context) => {
      const { page } = context
      await page.goto(await servePage(context, await pageCode()))
      await page.waitForFunction('globalThis.driven !== undefined')
      const run = async (files: Record<string, string>, timeoutMs = 20_000): Promise<unknown> =>
        JSON.parse(await page.evaluate<string>(`driven.run(${JSON.stringify(files)}, ${timeoutMs})`))
      const main = "import { two } from './two.mjs'\nconsole.log('got', two, process.argv.slice(2).join('+'))"
      assert.equal(await run({ 'main.mjs': main, 'two.mjs': 'export const two = 2' }), {
        how: 'done',
        text: 'got 2 a+b\n',
      })
      assert.equal(await run({ 'main.mjs': "console.log('first')\nthrow new Error('on purpose')" }), {
        how: 'failed',
        text: 'first\nError: on purpose\n',
      })
      assert.equal(await run({ 'main.mjs': "import './none.mjs'" }), {
        how: 'failed',
        text: "Error: Cannot find module './none.mjs'\n",
      })
      assert.equal(await run({ 'main.mjs': "import './main.mjs'" }), {
        how: 'failed',
        text: 'Error: main.mjs imports main.mjs\n',
      })
      assert.equal(await run({ 'main.mjs': "console.log('begun'); for (;;);" }, 1_500), {
        how: 'timedOut',
        text: 'begun\n',
      })
      assert.is(((await run({ 'main.mjs': 'this is no program' })) as { readonly how: string }).how, 'failed')
      checkProblems(context)
    },
  )

  it('gives others a turn as Node does, and cannot listen', { timeoutMs: 60_000 }, async (context) => {
    const { page } = context
    await page.goto(await servePage(context, await pageCode()))
    await page.waitForFunction('globalThis.driven !== undefined')
    assert.is(await page.evaluate('driven.order()'), 'now microtask one two')
    assert.match(await page.evaluate<string>('driven.serve()'), /A page in a browser cannot listen/)
    checkProblems(context)
  })
})
