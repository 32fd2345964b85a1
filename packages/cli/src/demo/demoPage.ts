import { tell } from '../terminal/wordWrap.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import type { Session } from '../sessions/openSession.ts'
import { coloursFor } from '../terminal/colours.ts'
import { untilStopped } from '../signals.ts'
import { defineSorter, wordsForSorter } from './sorter.ts'

/** The inspector page shown with a demo. */
export interface DemoPage {
  /** Keeps the page up until Ctrl-C, if a person may be looking at it. */
  stay(): Promise<void>
}

const sorterHint = `There you can spawn "sorter" and tell it "${wordsForSorter}": it gives up a dead end.`

const nowhere: DemoPage = { stay: async () => {} }

/**
 * Serves the page of the session's runtime and prints its address. The demos' agents can be started there. If it cannot listen, it prints a
 * notice and the demo continues without a page, unless the port was requested.
 *
 * @throws RuntimeError as `runtime.serve`, with `--port`.
 */
export async function openPage(
  session: Session,
  invocation: Invocation,
  host: CliHost,
  hint = sorterHint,
): Promise<DemoPage> {
  const { noServe, json } = invocation
  const stays = invocation.stay || host.stdout.isTTY
  if (noServe || json) return nowhere
  const { dim, bold } = coloursFor(host.stdout, host.env, host.theme)
  const definitions = [session.definition, ...(stays ? [defineSorter({ isSlow: true })] : [])]
  try {
    const server = await session.runtime.serve({ ...addressOf(invocation, host), definitions })
    const page = pageOf(server, `agent=${session.agent.id}`)
    tell(host.stdout, `${bold('Watch and drive it:')} ${page}\n\n`)
    return {
      async stay() {
        if (!stays) return
        const stopped = untilStopped(host)
        tell(host.stdout, `\n${dim(`The page stays at ${page} until Ctrl-C. ${hint}`)}\n`)
        await stopped
      },
    }
  } catch (thrown) {
    if (invocation.port !== undefined) throw thrown
    host.stderr.write(`The inspector page cannot be served: ${messageOf(thrown)} (--no-serve goes without.)\n`)
    return nowhere
  }
}
