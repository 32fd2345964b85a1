/** zod would try whether it may compile code, which the page's security policy forbids and the browser reports. */
export const zodConfig = { jitless: true }

Object.assign(globalThis, { __zod_globalConfig: zodConfig })
