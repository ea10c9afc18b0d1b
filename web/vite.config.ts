import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2023",
    // The page's policy allows no `data:` scripts or fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What is in the bundle of others goes with their licences.
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      // All that the first page needs, in one file: each further one is a request that it waits for.
      output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } },
    },
  },
  server: {
    // `npm run dev` in web/ beside a server that runs on its usual port.
    proxy: Object.fromEntries(
      ["/api", "/v1", "/login", "/logout"].map((path) => [
        path,
        { target: "http://127.0.0.1:4310", changeOrigin: true, ws: true, rewriteWsOrigin: true },
      ]),
    ),
  },
});
