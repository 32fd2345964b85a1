// zod would try whether it may compile code, which the page's security policy forbids and reports.
const config = { jitless: true }
Object.assign(globalThis, { __zod_globalConfig: config })

export {}
