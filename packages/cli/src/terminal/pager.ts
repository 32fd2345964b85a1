import { spawn } from 'node:child_process'
import { isInteractive, type CliHost } from '../cliHost.ts'

/** Shows colours, and leaves what was read on the screen. */
const lessOptions = 'FRX'

/**
 * Prints a text, at a terminal through `PAGER` (default: `less`) if it is longer than the screen. An empty `PAGER` and `cat` switch that off.
 * Where the pager cannot be started, the text is printed as it is.
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

/** A shell's exit code for a command that is not there. */
const notFound = 127
