import type { Provision } from './setUp.ts'
import { isCi, type CaseBody, type It } from './suite.ts'

/** Registers cases that need something that the repository does not bring: they are skipped without it, and fail where `CI` is set. */
export const needing =
  ({ name, advice, isThere }: Provision, it: It) =>
  (title: string, options: { readonly timeoutMs: number }, body: CaseBody): void => {
    if (!isThere() && !isCi()) it.skip(`${title} (skipped: ${name} is missing; ${advice})`)
    else
      it(title, options, (context) => {
        if (!isThere()) throw new Error(`${name} is missing: ${advice}.`)
        return body(context)
      })
  }
