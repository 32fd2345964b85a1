/**
 * The code of the search's worker. From source it is a file; the build puts the code itself here, as a `data:` address, so that bundlers
 * take it along like any other module.
 */
export const searchWorkerUrl = new URL('./searchWorker.ts', import.meta.url)
