/**
 * `node tools/site/inspectorPicture.ts`: makes docs/pictures/inspector.png, the page of the first demo. CHROMIUM names the browser; without it
 * playwright-core looks for its own. Run it when the page looks different.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const repository = join(import.meta.dirname, '..', '..')
const program = join(repository, 'packages', 'cli', 'src', 'main.ts')
const demo = spawn(process.execPath, [program, 'demo', '--stay'], { stdio: ['ignore', 'pipe', 'inherit'] })

/** The address of the page, which the demo prints when the agent is done. */
async function address(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    const found = /The page stays at (\S+)/.exec(line)?.[1]
    if (found !== undefined) return found
  }
  throw new Error('The demo ended without a page. Build it first: npm run build:page.')
}

try {
  const executablePath = process.env['CHROMIUM']
  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(await address())
  await page.getByText('The tests are all I have checked it by').first().waitFor()
  await page.screenshot({ path: join(repository, 'docs', 'pictures', 'inspector.png') })
  await browser.close()
} finally {
  demo.kill('SIGINT')
}
