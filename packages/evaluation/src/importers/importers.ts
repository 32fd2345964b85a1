import type { Importer } from './imported.ts'

/** Importers of benchmarks by the name that the command line takes. Each is loaded when it is used. */
export const importers: Readonly<Record<string, () => Promise<Importer>>> = {
  'swe-bench': async () => (await import('./sweBench.ts')).sweBench,
  intercode: async () => (await import('./interCode.ts')).interCode,
  'tau2-bench': async () => (await import('./tau2Bench.ts')).tau2Bench,
  'terminal-bench': async () => (await import('./terminalBench.ts')).terminalBench,
}
