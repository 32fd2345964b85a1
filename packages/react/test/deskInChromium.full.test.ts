import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { checkProblems, describeInChromium, serverGone, type PageContext } from '../../../test/browser/chromium.ts'
import { cliCommand, projectFolder, startChild, type CliChild } from '../../cli/test/cliChild.ts'
import { assert } from '../../../test/support/suite.ts'

const main = join(import.meta.dirname, '..', '..', '..', 'examples', 'apps', 'react', 'main.ts')

/** Starts the application in a process of its own, on the port of its last life; gives its port. */
async function startDesk(context: PageContext, folder: string, port = 0): Promise<{ child: CliChild; port: number }> {
  const child = startChild(context, cliCommand([folder], main), { env: { PORT: String(port) } })
  await child.until('/as/bob')
  return { child, port: Number(/127\.0\.0\.1:(\d+)/.exec(child.stdout)![1]) }
}

const status = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('[role=status]', { hasText: text }).waitFor()

async function say(page: Page, text: string): Promise<void> {
  await status(page, 'idle')
  await page.getByLabel('Your message').fill(text)
  await page.keyboard.press('Enter')
}

const said = (page: Page): Promise<string[]> => page.locator('p.user, p.assistant').allTextContents()

describeInChromium('the desk in React', (it) => {
  it(
    'has customers talk and staff approve, over the end of its server and a reload',
    { timeoutMs: 60_000 },
    async (context) => {
      const { page } = context
      const folder = projectFolder(context)
      const first = await startDesk(context, folder)
      const at = (user: string): string => `http://127.0.0.1:${first.port}/as/${user}`
      await page.goto(at('ann'))
      await say(page, 'Where is my clock?')
      await page.getByText('It leaves the workshop tomorrow.').waitFor()
      await say(page, 'Then I want my money back for o7.')
      await status(page, 'A colleague looks at it.')
      assert.is(await page.getByRole('button', { name: 'approve' }).count(), 0)

      first.child.signal('SIGKILL')
      await first.child.ended
      await startDesk(context, folder, first.port)
      const staff = await context.open()
      await staff.page.goto(at('zoe'))
      await staff.page.getByText('ann, “Where is my clock?”: refund {"order":"o7"}').waitFor()
      await staff.page.screenshot({ path: join(import.meta.dirname, '..', '..', '..', '.escapement', 'desk.png') })
      await staff.page.getByRole('button', { name: 'approve' }).click()
      await status(staff.page, 'Nothing waits.')
      await page.reload()
      await page.getByText('It is on its way to your account.').waitFor()
      await status(page, 'idle')
      assert.equal(await said(page), [
        'Where is my clock?',
        'It leaves the workshop tomorrow.',
        'Then I want my money back for o7.',
        'I have to ask for that.',
        'It is on its way to your account.',
      ])

      const other = await context.open()
      await other.page.goto(at('bob'))
      await status(other.page, 'idle')
      assert.equal(await said(other.page), [])
      // Another tab of the same customer shows the same, as it happens.
      const tab = await page.context().newPage()
      await tab.goto(`http://127.0.0.1:${first.port}/`)
      await tab.getByText('It is on its way to your account.').waitFor()
      await say(page, 'Thank you.')
      await tab.locator('p.user', { hasText: 'Thank you.' }).waitFor()
      checkProblems(context, serverGone)
      checkProblems(other)
      checkProblems(staff)
    },
  )
})
