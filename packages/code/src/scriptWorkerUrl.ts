/**
 * URL of the script worker's code: a file when run from source. The build replaces it with a `data:` URL that holds the
 * code, so that bundlers need no configuration to include it.
 */
export const scriptWorkerUrl = new URL('./scriptWorker.ts', import.meta.url)
