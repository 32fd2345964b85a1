import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

let source: Promise<string> | undefined

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

/**
 * Violations that axe-core finds on a page as it is now, in words: rules of WCAG 2.2 A and AA, and best practice. `except`: selectors of
 * parts that it need not look at.
 */
export async function axeViolations(page: Page, except: readonly string[] = []): Promise<string[]> {
  source ??= readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // Evaluated by the debugger: the page's own policy does not let a script in.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(await source)
  // Nothing that has to be fetched anew is among its rules: they look at no sound, and at the style as it is.
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(
    `axe.run(${JSON.stringify({ exclude: except })}, { resultTypes: ['violations'], iframes: false, preload: false }).then(({ violations }) => ({
      violations: violations.map(({ id, help, nodes }) => ({
        id, help, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })),
      })),
    }))`,
  )
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 3).map(({ target, failureSummary }) => {
      const why = failureSummary.replaceAll(/\s+/g, ' ')
      return `${id} (${help}) at ${target.join(' ')}: ${why}`
    }),
  )
}
