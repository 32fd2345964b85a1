import type { CliHost } from '../cliHost.ts'
import { onStopSignal } from '../signals.ts'
import type { Workshop } from './workshop.ts'

/** Checks the work by running Node again, rather than trusting the agent; `undefined` if it was stopped. */
export async function verify(
  workshop: Workshop,
  args: readonly string[],
  { host, timeoutMs }: { readonly host: CliHost; readonly timeoutMs: number },
): Promise<boolean | undefined> {
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(host, () => stop.abort(new Error('Stopped by a signal.')))
  try {
    return await workshop.succeeds(args, { signal: stop.signal, timeoutMs })
  } catch {
    return undefined
  } finally {
    ignoreSignals()
  }
}
