/**
 * URL of the search worker's code: a file when run from source. The build replaces it with a `data:` URL that holds the code, so that
 * bundlers need no configuration to include it.
 */
export const searchWorkerUrl = new URL('./searchWorker.ts', import.meta.url)
