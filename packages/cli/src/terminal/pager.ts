import { spawn } from 'node:child_process'
import { isInteractive, type CliHost } from '../cliHost.ts'

/** Options for `less`: show colours, and leave the text on the screen. */
const lessOptions = 'FRX'

/**
 * Prints a text. At a terminal it uses `PAGER` (default: `less`) if the text is longer than the screen. An empty `PAGER` and `cat` disable that.
 * If the pager cannot be started, the text is printed directly.
 */
export async function paged(text: string, host: CliHost): Promise<void> {
  const { stdout, stderr, env } = host
  const pager = env['PAGER'] ?? 'less'
  const isLong = isInteractive(host) && text.split('\n').length > stdout.rows
  if (!isLong || pager === '' || pager === 'cat' || typeof stdout.fd !== 'number') {
    stdout.write(text)
    return
  }
  // Ctrl-C belongs to the pager, which would else be left alone with the terminal.
  const ignore = (): void => {}
  host.on('SIGINT', ignore)
  try {
    const child = spawn('sh', ['-c', `exec ${pager}`], {
      stdio: ['pipe', stdout, stderr],
      env: { LESS: lessOptions, ...env },
    })
    const ended = new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(notFound))
      child.once('close', resolve)
    })
    // Whoever has read enough leaves.
    child.stdin.on('error', ignore)
    child.stdin.end(text)
    if ((await ended) === notFound) stdout.write(text)
  } finally {
    host.off('SIGINT', ignore)
  }
}

/** Exit code of a shell for a missing command. */
const notFound = 127
