import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { callProject } from '../../../../cli/src/demo/long/callProject.ts'
import { longModel } from '../../../../cli/src/demo/long/longPolicy.ts'
import { longTask } from '../../../../cli/src/demo/long/longTask.ts'
import { openWorkshop } from '../../../../cli/src/demo/workshop.ts'
import { defineCoder } from '../../../../cli/src/sessions/openSession.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { openInspector, serveInspector, startAgent } from '../inspectorHarness.ts'

describeInChromium('a folded session on the inspector page', (it) => {
  it('shows memos, index and folded steps, and that requests got smaller', { timeoutMs: 60_000 }, async (context) => {
    const workshop = openWorkshop(callProject(24))
    context.cleanup(() => rm(dirname(workshop.dir), { recursive: true }))
    const definition = defineCoder({
      ...workshop,
      needsApproval: () => false,
      choice: { model: longModel(), isEmbedded: true },
      name: 'long',
      braking: { fold: true },
    })
    const { server } = await serveInspector(context, [definition])
    const inspector = await openInspector(context, server.port)
    const { page } = inspector
    await startAgent(inspector, 'long', { id: 'l1' })
    await inspector.say(longTask)
    await inspector.sees('Done: every call')
    await inspector.isIn('idle')

    const label = (await page.locator('.sparkline').getAttribute('aria-label')) ?? ''
    const [, last, most] =
      /to ([\d,]+), at most ([\d,]+)$/.exec(label)?.map((found) => Number(found.replace(',', ''))) ?? []
    assert.ok(last! < 0.8 * most!, label)

    // The rows that are seen are all there are in the document.
    await page.locator('.conversation-row').first().click()
    await page.keyboard.press('Home')
    const memo = page.locator('.conversation-row.is-memo').first()
    await inspector.sees('Folded', memo)
    await inspector.sees(/\d+ steps of n2–n\d+; the model can recall them/, memo)
    await inspector.sees(/n4 Next file\. · read_file src\/billing\/cost\.js/, memo)
    await inspector.sees(/frees [\d,]+ tokens, pays after/, memo)
    await memo.getByText(/Index at this fold: \d+ names/).click()
    await inspector.sees(/^n2 src\/customs/m, memo)
    await page.locator('.conversation-row.is-folded').getByText('folded', { exact: true }).first().waitFor()
    checkProblems(inspector)
  })
})
